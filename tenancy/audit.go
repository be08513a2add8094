package tenancy

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// Actions of public.audit_log.
const (
	AuditSignIn      = "sign-in"
	AuditSignOut     = "sign-out"
	AuditSwitch      = "switch" // a sign-in that took the place of somebody else's session
	AuditEndSessions = "end-sessions"
	AuditProvision   = "provision"
	AuditCancel      = "cancel"
	AuditRestore     = "restore"
	AuditExport      = "export"
	AuditImport      = "import"
	AuditPurge       = "purge"
	AuditRetry       = "retry"
	AuditIgnore      = "ignore" // a failed event that is not to be applied any more
)

// ActorPlatform is the actor of what an event asks for.
const ActorPlatform = "platform"

type actorKey struct{}

// WithActor returns a context in which whatever stands in the audit log is
// actor's doing: a user's id, ActorPlatform, or who runs a command.
func WithActor(ctx context.Context, actor string) context.Context {
	return context.WithValue(ctx, actorKey{}, actor)
}

// Actor is who acts in ctx; without one, this program by itself.
func Actor(ctx context.Context) string {
	if name, ok := ctx.Value(actorKey{}).(string); ok {
		return storable(name)
	}
	return "server"
}

// Audit records an action in a transaction of its own: for one that has none.
// slug may be zero.
func (db *DB) Audit(ctx context.Context, action string, slug Slug, detail string) error {
	if _, err := db.pool.Exec(ctx, auditSQL(ctx, action, slug, detail)); err != nil {
		return fmt.Errorf("audit: %w", err)
	}
	return db.told(ctx, nil, action, slug, detail)
}

// auditSQL is a statement that records an action; a message of several may have
// it. What others have chosen is sent as hexadecimal digits, which no setting of
// the server and no encoding makes anything else of.
func auditSQL(ctx context.Context, action string, slug Slug, detail string) string {
	return fmt.Sprintf(`INSERT INTO public.audit_log (actor, action, tenant_slug, detail)
		VALUES (%s, '%s', nullif('%s', ''), %s)`, hexText(Actor(ctx)), action, slug.s, hexText(detail))
}

func hexText(s string) string {
	return fmt.Sprintf("convert_from(decode('%x', 'hex'), 'UTF8')", storable(s))
}

// told logs an action that was recorded, and returns err.
func (db *DB) told(ctx context.Context, err error, action string, slug Slug, detail string) error {
	if err == nil {
		db.log.InfoContext(ctx, "audit", "actor", Actor(ctx), "action", action, "tenant", slug.String(), "detail", detail)
	}
	return err
}

// Told logs an action that a transaction of this System has recorded.
func (s *System) Told(ctx context.Context, action string, slug Slug, detail string) {
	_ = s.db.told(ctx, nil, action, slug, detail)
}

// SweepAudit deletes what is older than retention, in batches.
func (db *DB) SweepAudit(ctx context.Context, retention time.Duration) error {
	return db.System().DeleteBatches(ctx, `DELETE FROM public.audit_log WHERE id IN (
		SELECT id FROM public.audit_log WHERE at < now() - make_interval(secs => $2) LIMIT $1 FOR UPDATE SKIP LOCKED)`,
		retention.Seconds())
}

// storable is text as PostgreSQL can store it: valid UTF-8 without NUL.
func storable(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}
