package tenancy

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
)

// Session is a row of public.sessions.
type Session struct {
	ID        int64
	Tenant    Slug // zero while a sign-in is not finished
	UserID    string
	UserAgent string
	Data      []byte
	CreatedAt time.Time
	ExpiresAt time.Time
	Current   bool // it is the one that the list was asked for with
	// Replaced, of a sign-in, is whose session it took the place of.
	Replaced string
	// Renews is the token of the session that ends when this one is saved.
	Renews string
}

// hashToken is all of a session's token that the database ever sees.
func hashToken(token string) []byte {
	sum := sha256.Sum256([]byte(token))
	return sum[:]
}

// writeWait is how long a write on sessions waits for another transaction: one
// that applies an event of the tenant, or that migrates it, may take minutes.
const writeWait = "300ms"

// writeSession sends a statement that writes what is of sessions, and reads its
// one row where there are targets. It takes a connection of the tenant's lane: who
// waits there keeps nobody from finding a session, and no other tenant from
// signing in. It returns ErrBusy where the wait was too long.
func (db *DB) writeSession(ctx context.Context, slug Slug, sql string, args []any, targets ...any) error {
	conn, err := db.acquire(ctx, slug)
	if err != nil {
		return err
	}
	defer conn.Release()
	batch := &pgx.Batch{}
	batch.Queue(`SELECT set_config('lock_timeout', '` + writeWait + `', true)`)
	if written := batch.Queue(sql, args...); targets != nil {
		written.QueryRow(func(row pgx.Row) error { return row.Scan(targets...) })
	}
	err = conn.SendBatch(ctx, batch).Close()
	if IsLockTimeout(err) {
		err = fmt.Errorf("%w: %w", ErrBusy, err)
	}
	return err
}

// SaveSession writes a new session under its token. A session of a tenant is
// only written while the tenant is active, else ErrTenantCancelled: the row
// lock makes a sign-in and a cancellation at the same instant wait for each
// other, and gives ErrBusy where that takes long. A session of a tenant is a
// sign-in, and recorded as such. The session that it renews ends in the same
// statement: of the two tokens one is good, always.
func (db *DB) SaveSession(ctx context.Context, token string, s Session) error {
	action := AuditSignIn
	if s.Replaced != "" {
		action = AuditSwitch
	}
	var saved int
	err := db.writeSession(ctx, s.Tenant, `
		WITH saved AS (
			INSERT INTO public.sessions (token_hash, tenant_slug, user_id, user_agent, data, expires_at)
			SELECT $1, t.slug, $3, $4, $5, $6
			FROM (SELECT 1) AS one LEFT JOIN LATERAL (
				SELECT slug FROM public.tenants WHERE slug = $2 AND status = 'active' FOR SHARE) t ON true
			WHERE $2 = '' OR t.slug IS NOT NULL
			RETURNING tenant_slug, user_id
		), renewed AS (
			DELETE FROM public.sessions WHERE token_hash = $9 AND EXISTS (SELECT FROM saved)
		), recorded AS (
			INSERT INTO public.audit_log (actor, action, tenant_slug, detail)
			SELECT user_id, $7, tenant_slug, $8 FROM saved WHERE tenant_slug IS NOT NULL
		)
		SELECT count(*) FROM saved`,
		[]any{hashToken(token), s.Tenant.s, s.UserID, s.UserAgent, s.Data, s.ExpiresAt, action, storable(s.Replaced), hashToken(s.Renews)}, &saved)
	if err != nil {
		return fmt.Errorf("save session: %w", err)
	}
	if saved == 0 {
		return fmt.Errorf("save session: %s: %w", s.Tenant, ErrTenantCancelled)
	}
	if s.Tenant.IsZero() {
		return nil
	}
	return db.told(WithActor(ctx, s.UserID), nil, action, s.Tenant, s.Replaced)
}

// ErrSessionEnded says that a session was ended while a request used it.
var ErrSessionEnded = errors.New("the session was ended")

// UpdateSession writes the data of a session that is there. One that was ended
// stays so, whatever request was under way then: ErrSessionEnded.
func (db *DB) UpdateSession(ctx context.Context, token string, s Session) error {
	var there bool
	err := db.writeSession(ctx, s.Tenant, `
		UPDATE public.sessions SET data = $2, expires_at = $3 WHERE token_hash = $1 AND expires_at > now() RETURNING true`,
		[]any{hashToken(token), s.Data, s.ExpiresAt}, &there)
	if errors.Is(err, pgx.ErrNoRows) {
		err = ErrSessionEnded
	}
	if err != nil {
		return fmt.Errorf("update session: %w", err)
	}
	return nil
}

// SignOut ends the session with this token, that of ctx's tenant, at its owner's
// wish, which is recorded; none is no error.
func (db *DB) SignOut(ctx context.Context, token string) error {
	tenant, _ := TenantFrom(ctx)
	var slug, userID string
	err := db.writeSession(ctx, tenant.Slug, `
		WITH ended AS (
			DELETE FROM public.sessions WHERE token_hash = $1 RETURNING tenant_slug, user_id
		), recorded AS (
			INSERT INTO public.audit_log (actor, action, tenant_slug)
			SELECT user_id, $2, tenant_slug FROM ended WHERE tenant_slug IS NOT NULL
		)
		SELECT tenant_slug, user_id FROM ended WHERE tenant_slug IS NOT NULL`, []any{hashToken(token), AuditSignOut}, &slug, &userID)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("delete session: %w", err)
	}
	return db.told(WithActor(ctx, userID), nil, AuditSignOut, Slug{slug}, "")
}

// Sessions lists where a user is signed in, newest first; token is that of the
// session that asks.
func (db *DB) Sessions(ctx context.Context, slug Slug, userID, token string) ([]Session, error) {
	rows, err := db.sessions.Query(ctx, `
		SELECT id, user_agent, created_at, expires_at, token_hash = $3
		FROM public.sessions WHERE tenant_slug = $1 AND user_id = $2 AND expires_at > now()
		ORDER BY id DESC LIMIT 100`, slug.s, userID, hashToken(token))
	if err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (Session, error) {
		s := Session{Tenant: slug, UserID: userID}
		err := row.Scan(&s.ID, &s.UserAgent, &s.CreatedAt, &s.ExpiresAt, &s.Current)
		return s, err
	})
}

// EndSessions ends sessions of a user: the one with this id, or with id 0 all
// but the one with this token. It returns how many it ended.
func (db *DB) EndSessions(ctx context.Context, slug Slug, userID string, id int64, exceptToken string) (int64, error) {
	return db.endSessions(ctx, slug, `user_id = $4 AND (id = $5 OR $5 = 0) AND token_hash <> $6`, userID, id, hashToken(exceptToken))
}

// EndUserSessions signs a user out everywhere, on every replica, at once: for a
// user whom the platform has removed from the tenant. It returns how many
// sessions it ended.
func (db *DB) EndUserSessions(ctx context.Context, slug Slug, userID string) (int64, error) {
	return db.endSessions(ctx, slug, `user_id = $4`, userID)
}

// EndTenantSessions signs everybody of a tenant out. Cancel does this too.
func (db *DB) EndTenantSessions(ctx context.Context, slug Slug) (int64, error) {
	return db.endSessions(ctx, slug, `true`)
}

// endSessions deletes the tenant's sessions for which the condition, whose
// arguments begin with $4, holds. What it has done to each user is recorded.
func (db *DB) endSessions(ctx context.Context, slug Slug, condition string, args ...any) (ended int64, err error) {
	err = db.writeSession(ctx, slug, `
		WITH ended AS (
			DELETE FROM public.sessions WHERE tenant_slug = $1 AND `+condition+` RETURNING user_id
		), recorded AS (
			INSERT INTO public.audit_log (actor, action, tenant_slug, detail)
			SELECT $2, $3, $1, count(*) || ' of ' || user_id FROM ended GROUP BY user_id
		)
		SELECT count(*) FROM ended`, append([]any{slug.s, Actor(ctx), AuditEndSessions}, args...), &ended)
	if err != nil {
		return 0, fmt.Errorf("end sessions: %w", err)
	}
	if ended == 0 {
		return 0, nil
	}
	return ended, db.told(ctx, nil, AuditEndSessions, slug, strconv.FormatInt(ended, 10))
}

// SweepSessions deletes sessions past their life, in batches.
func (db *DB) SweepSessions(ctx context.Context) error {
	return (&System{db, db.sessions}).DeleteBatches(ctx, `DELETE FROM public.sessions WHERE id IN (
		SELECT id FROM public.sessions WHERE expires_at < now() LIMIT $1 FOR UPDATE SKIP LOCKED)`)
}
