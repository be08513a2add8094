package tenancy_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/subproduct/tenancy"
	"example.com/subproduct/tenancy/localpg/pgtest"
)

func TestSessions_ExpiredOnesAreSwept(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	db := open(t, tenancy.Options{URL: url, Tenant: things})
	provision(t, db, "acme")
	live := tenancy.Session{Tenant: slug(t, "acme"), UserID: "u", Data: []byte("{}"), ExpiresAt: time.Now().Add(time.Hour)}
	if err := db.SaveSession(t.Context(), "live", live); err != nil {
		t.Fatal(err)
	}
	pgtest.Exec(t, url, `INSERT INTO public.sessions (token_hash, data, expires_at)
		SELECT sha256(n::text::bytea), '{}', now() - interval '1 second' FROM generate_series(1, 2500) n`) // more than one batch
	if err := db.SweepSessions(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := pgtest.Query[int](t, url, `SELECT count(*) FROM public.sessions`); n != 1 {
		t.Errorf("%d are left, want the live one", n)
	}
	if _, _, found, err := db.FindSession(t.Context(), "live"); !found || err != nil {
		t.Errorf("the live one: %v, %v", found, err)
	}
}

// Writing is for sessions that may be: a new one of an active tenant, an old
// one that has not been ended.
func TestSessions_Writing(t *testing.T) {
	t.Parallel()
	db := open(t, tenancy.Options{Tenant: things})
	provision(t, db, "acme")
	s := tenancy.Session{Tenant: slug(t, "acme"), UserID: "u", Data: []byte("{}"), ExpiresAt: time.Now().Add(time.Hour)}
	ctx := t.Context()
	if err := db.UpdateSession(ctx, "never", s); !errors.Is(err, tenancy.ErrSessionEnded) {
		t.Errorf("one that never was: %v", err)
	}
	if err := errors.Join(db.SaveSession(ctx, "a", s), db.UpdateSession(ctx, "a", s)); err != nil {
		t.Error(err)
	}
	if err := db.SaveSession(ctx, "a", s); err == nil {
		t.Error("a token was given out twice")
	}
	past := s
	past.ExpiresAt = time.Now().Add(-time.Second)
	if err := db.SaveSession(ctx, "old", past); err != nil {
		t.Fatal(err)
	}
	if err := db.UpdateSession(ctx, "old", s); !errors.Is(err, tenancy.ErrSessionEnded) {
		t.Errorf("one that has expired: %v", err)
	}
	if err := db.Cancel(ctx, slug(t, "acme")); err != nil {
		t.Fatal(err)
	}
	for what, err := range map[string]error{"saved": db.SaveSession(ctx, "b", s), "updated": db.UpdateSession(ctx, "a", s)} {
		if !errors.Is(err, tenancy.ErrTenantCancelled) && !errors.Is(err, tenancy.ErrSessionEnded) {
			t.Errorf("after the cancellation one was %s: %v", what, err)
		}
	}
}

// Where somebody else has a tenant's rows for long, writes on its sessions give up,
// and neither a session is found later nor anybody of another tenant signed in.
func TestSessions_AWriteDoesNotWaitForLong(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	db := open(t, tenancy.Options{URL: url, Tenant: things, Requests: 8, Sessions: 1})
	acme := tenancy.WithTenant(t.Context(), tenancy.Tenant{Slug: slug(t, "acme"), Status: tenancy.Active})
	s := tenancy.Session{Tenant: slug(t, "acme"), UserID: "u", Data: []byte("{}"), ExpiresAt: time.Now().Add(time.Hour)}
	for _, name := range []string{"acme", "globex"} {
		provision(t, db, name)
		signIn(t, db, name, name, time.Hour)
	}
	holder := pgtest.Connect(t, url)
	defer holder.Close(context.Background())
	if _, err := holder.Exec(acme, `BEGIN; UPDATE public.tenants SET plan_type = 'Pro' WHERE slug = 'acme';
		DELETE FROM public.sessions WHERE tenant_slug = 'acme'`); err != nil {
		t.Fatal(err)
	}
	acme, cancel := context.WithTimeout(acme, 10*time.Second)
	defer cancel()
	var writes sync.WaitGroup
	for what, write := range map[string]func() error{
		"save":     func() error { return db.SaveSession(acme, "new", s) },
		"update":   func() error { return db.UpdateSession(acme, "acme", s) },
		"sign out": func() error { return db.SignOut(acme, "acme") },
		"end":      func() error { _, err := db.EndTenantSessions(acme, s.Tenant); return err },
		"note":     func() error { return db.SignedIn(acme, s.Tenant, "Pro", time.Now()) },
	} {
		writes.Go(func() {
			if err := write(); !errors.Is(err, tenancy.ErrBusy) {
				t.Errorf("%s: %v, want ErrBusy", what, err)
			}
		})
	}
	await(t, "writes wait", func() bool { return pgtest.Waiting(t, url) > 0 })
	began := time.Now()
	if _, _, found, err := db.FindSession(t.Context(), "globex"); !found || err != nil {
		t.Errorf("finding a session of another tenant: %v, %v", found, err)
	}
	signIn(t, db, "globex", "another", time.Hour)
	if took := time.Since(began); took > 3*time.Second {
		t.Errorf("another tenant waited for %v", took)
	}
	writes.Wait()
}

// Where a user is signed in now, newest first; what has expired is not there any
// more, swept or not.
func TestSessions_TheListIsOfLiveOnesNewestFirst(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	db := open(t, tenancy.Options{URL: url, Tenant: things})
	provision(t, db, "acme")
	s := tenancy.Session{Tenant: slug(t, "acme"), UserID: "u", Data: []byte("{}"), ExpiresAt: time.Now().Add(time.Hour)}
	for _, token := range []string{"a", "over", "b", "c"} {
		s.UserAgent = token
		if err := db.SaveSession(t.Context(), token, s); err != nil {
			t.Fatal(err)
		}
	}
	pgtest.Exec(t, url, `UPDATE public.sessions SET expires_at = now() - interval '1 second' WHERE user_agent = 'over'`)
	pgtest.Exec(t, url, `UPDATE public.sessions SET user_agent = user_agent WHERE user_agent = 'a'`) // so that it lies behind the others
	listed := func() (agents, current string, n int) {
		t.Helper()
		found, err := db.Sessions(t.Context(), s.Tenant, "u", "b")
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range found {
			agents += f.UserAgent
			if f.Current {
				current += f.UserAgent
			}
		}
		return agents, current, len(found)
	}
	if agents, current, _ := listed(); agents != "cba" || current != "b" {
		t.Errorf("the list is %s, current %s; want cba, current b", agents, current)
	}
	pgtest.Exec(t, url, `INSERT INTO public.sessions (token_hash, tenant_slug, user_id, user_agent, data, expires_at)
		SELECT sha256(n::text::bytea), 'acme', 'u', 'x', '{}', now() + interval '1 hour' FROM generate_series(1, 100) n`)
	if agents, _, n := listed(); n != 100 || strings.Trim(agents, "x") != "" {
		t.Errorf("of 103 it lists %d: %s; want the newest 100", n, agents)
	}
}

// Whoever leaves has left, whatever there was to leave: a session that is gone,
// or a sign-in that was never finished. Only the end of a sign-in is recorded.
func TestSignOut_OfWhatIsNoSignInIsNoError(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	db := open(t, tenancy.Options{URL: url, Tenant: things})
	ctx := provision(t, db, "acme")
	signIn(t, db, "acme", "ada", time.Hour)
	waits := tenancy.Session{Data: []byte("{}"), ExpiresAt: time.Now().Add(time.Hour)}
	if err := db.SaveSession(t.Context(), "waits", waits); err != nil {
		t.Fatal(err)
	}
	for _, leave := range []struct {
		ctx   context.Context
		token string
	}{{t.Context(), "unknown"}, {ctx, "unknown"}, {t.Context(), "waits"}, {ctx, "ada"}, {ctx, "ada"}} {
		if err := db.SignOut(leave.ctx, leave.token); err != nil {
			t.Errorf("%s: %v", leave.token, err)
		}
	}
	if n := pgtest.Query[int](t, url, `SELECT count(*) FROM public.sessions`); n != 0 {
		t.Errorf("%d sessions are left", n)
	}
	if got := pgtest.Query[string](t, url, `SELECT coalesce(string_agg(actor, ','), '') FROM public.audit_log WHERE action = $1`, tenancy.AuditSignOut); got != "ada" {
		t.Errorf("recorded for %q, want ada alone", got)
	}
}
