package tenancy_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"example.com/subproduct/tenancy"
	"example.com/subproduct/tenancy/localpg/pgtest"
)

// A user's id is the platform's to choose: whatever it is, it is text.
func TestAudit_ActorsAreText(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	db := open(t, tenancy.Options{URL: url, Tenant: things})
	for i, actor := range []string{`o'brien\`, `'); DROP TABLE public.sessions; --`, `\'); DROP TABLE public.sessions; --`, "ümläut \x00 \xff %s %[1]s $1"} {
		ctx := tenancy.WithActor(t.Context(), actor)
		acme := slug(t, "acme")
		if err := errors.Join(db.Provision(ctx, acme), db.Cancel(ctx, acme), db.Purge(ctx, acme), db.Audit(ctx, tenancy.AuditImport, acme, actor)); err != nil {
			t.Fatal(err)
		}
		want := actor
		if i == 3 {
			want = "ümläut \uFFFD \uFFFD %s %[1]s $1"
		}
		if n := pgtest.Query[int](t, url, `SELECT count(*) FROM public.audit_log WHERE actor = $1`, want); n != 5 {
			t.Errorf("%q: %d lines, want 5", actor, n)
		}
	}
	_ = pgtest.Query[int](t, url, `SELECT count(*) FROM public.sessions`)
}

// What was undone is not recorded as done.
func TestAudit_AFailureLeavesNoLine(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	no := errors.New("no")
	db := open(t, tenancy.Options{URL: url, Tenant: things, OnProvision: func(context.Context, pgx.Tx, tenancy.Slug) error { return no }})
	if err := db.Provision(t.Context(), slug(t, "acme")); !errors.Is(err, no) {
		t.Fatal(err)
	}
	if err := db.Cancel(t.Context(), slug(t, "acme")); !errors.Is(err, tenancy.ErrUnknownTenant) {
		t.Fatal(err)
	}
	session := tenancy.Session{Tenant: slug(t, "acme"), UserID: "u", ExpiresAt: time.Now().Add(time.Hour)}
	if err := db.SaveSession(t.Context(), "token", session); !errors.Is(err, tenancy.ErrTenantCancelled) {
		t.Fatal(err)
	}
	if n := pgtest.Query[int](t, url, `SELECT count(*) FROM public.audit_log`); n != 0 {
		t.Errorf("%d lines, want none", n)
	}
}

// What has not happened is not recorded: a command for what is so already, an
// export of nobody.
func TestAudit_WhatChangesNothingLeavesNoLine(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	var log strings.Builder
	db := open(t, tenancy.Options{URL: url, Tenant: things, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	ctx, acme := tenancy.WithActor(t.Context(), "operator"), slug(t, "acme")
	for range 2 {
		if err := errors.Join(db.Provision(ctx, acme), db.Provision(ctx, acme), db.Cancel(ctx, acme), db.Cancel(ctx, acme)); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(db.Restore(ctx, acme), db.Restore(ctx, acme), db.Cancel(ctx, acme)); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Export(ctx, slug(t, "nobody"), io.Discard); !errors.Is(err, tenancy.ErrUnknownTenant) && !errors.Is(err, tenancy.ErrNoPgDump) {
		t.Fatal(err)
	}
	want := strings.Repeat("provision cancel restore cancel ", 2)
	if got := pgtest.Query[string](t, url, `SELECT string_agg(action || ' ', '' ORDER BY id) FROM public.audit_log`); got != want {
		t.Errorf("recorded: %s", got)
	}
	if n := strings.Count(log.String(), "msg=audit actor=operator"); n != 8 {
		t.Errorf("%d lines in the log, want 8:\n%s", n, log.String())
	}
}

// Lines are kept so long and no longer, whatever became of their tenant.
func TestAudit_Retention(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	db := open(t, tenancy.Options{URL: url})
	pgtest.Exec(t, url, `INSERT INTO public.audit_log (at, actor, action, tenant_slug)
		SELECT now() - interval '1 hour' * i, 'x', 'cancel', 'gone' FROM generate_series(1, 2500) i`)
	if err := db.SweepAudit(t.Context(), 10*time.Hour+time.Minute); err != nil {
		t.Fatal(err)
	}
	if n := pgtest.Query[int](t, url, `SELECT count(*) FROM public.audit_log`); n != 10 {
		t.Errorf("%d lines are left, want 10", n)
	}
}
