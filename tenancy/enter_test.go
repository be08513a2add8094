package tenancy_test

import (
	"context"
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"example.com/subproduct/tenancy"
	"example.com/subproduct/tenancy/localpg/pgtest"
)

// An event may come for a tenant that a deployment has not migrated yet.
func TestAnEventFindsItsTenantAtThisVersion(t *testing.T) {
	t.Parallel()
	url, _ := town(t, 1, versionTwo)
	db := open(t, tenancy.Options{URL: url, Tenant: versionTwo, MigrateOnUse: true, TenantRoles: true})
	inbox := db.NewInbox(tenancy.EventHandlers{"b": {Apply: func(ctx context.Context, tx pgx.Tx, _ tenancy.Event) error {
		return useColumnB(ctx)(tx)
	}}}, quick)
	t.Cleanup(func() { inbox.Close(context.Background()) })
	d := &desk{url: url, db: db, inbox: inbox}
	if stored, outcome := d.deliver(t, "b", "t000", ""); outcome != tenancy.Done {
		t.Errorf("%v: %s", outcome, query[string](t, url, `SELECT coalesce(last_error, '') FROM public.webhook_events WHERE id = $1`, stored.ID))
	}
	if n := query[int](t, url, `SELECT count(b) FROM tenant_t000.a`); n != 1 {
		t.Errorf("%d effects, want 1", n)
	}
}

// An event handler stands behind the same wall as a request.
func TestAnEventHandlerCannotReachAnotherTenant(t *testing.T) {
	t.Parallel()
	url := asOrdinaryUser(t, pgtest.URL(t))
	db := open(t, tenancy.Options{URL: url, Tenant: things, TenantRoles: true})
	acme := provision(t, db, "acme")
	provision(t, db, "globex")
	var refusal error
	inbox := db.NewInbox(tenancy.EventHandlers{"spy": {Apply: func(ctx context.Context, tx pgx.Tx, _ tenancy.Event) error {
		_, refusal = tx.Exec(ctx, `SELECT owner FROM tenant_globex.things`)
		return tenancy.Permanent(refusal)
	}}, "write": {Apply: func(ctx context.Context, tx pgx.Tx, _ tenancy.Event) error {
		_, err := tx.Exec(ctx, `INSERT INTO things (owner) VALUES ('event')`)
		return err
	}}}, quick)
	t.Cleanup(func() { inbox.Close(context.Background()) })
	d := &desk{url: url, db: db, inbox: inbox}
	d.deliver(t, "spy", "acme", "")
	if pgErr := (*pgconn.PgError)(nil); !errors.As(refusal, &pgErr) || pgErr.Code != "42501" {
		t.Errorf("reading globex: %v, want permission denied", refusal)
	}
	if _, outcome := d.deliver(t, "write", "acme", ""); outcome != tenancy.Done {
		t.Errorf("its own table: %v", outcome)
	}
	if got, err := owners(acme, db); err != nil || len(got) != 1 {
		t.Errorf("%v, %v", got, err)
	}
}
