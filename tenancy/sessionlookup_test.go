package tenancy_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"example.com/subproduct/tenancy"
	"example.com/subproduct/tenancy/localpg/pgtest"
)

// counter counts the statements that are sent.
type counter struct{ n atomic.Int64 }

func (c *counter) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	c.n.Add(1)
	return ctx
}

func (c *counter) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// Sessions that are asked for at the same time share statements, and everybody
// gets their own.
func TestFindSession_ManyAtOnce(t *testing.T) {
	t.Parallel()
	url, sent := pgtest.URL(t), &counter{}
	db := open(t, tenancy.Options{URL: url, Tenant: things, Tracer: sent})
	for i := range 3 {
		name := fmt.Sprintf("t%d", i)
		provision(t, db, name)
		for j := range 20 {
			signIn(t, db, name, fmt.Sprint(name, "-", j), time.Hour)
		}
	}
	signIn(t, db, "t0", "expired", time.Hour)
	pgtest.Exec(t, url, `UPDATE public.sessions SET expires_at = now() - interval '1 second' WHERE user_id = 'expired';
		UPDATE public.tenants SET status = 'cancelled' WHERE slug = 't2'`)
	release, before := pgtest.Lock(t, url, "public.sessions"), sent.n.Load()
	var all sync.WaitGroup
	for i, token := range []string{"expired", "unknown"} { // a statement each, and then none is free
		all.Go(func() {
			if _, _, found, err := db.FindSession(t.Context(), token); found || err != nil {
				t.Errorf("%s: %v, %v", token, found, err)
			}
		})
		await(t, "it waits for the lock", func() bool { return pgtest.Waiting(t, url) == i+1 })
	}
	for i := range 3 {
		for j := range 20 {
			token := fmt.Sprintf("t%d-%d", i, j)
			all.Go(func() {
				data, tenant, found, err := db.FindSession(t.Context(), token)
				if wanted := i < 2; err != nil || found != wanted || wanted && (string(data) != `"`+token+`"` || tenant.Slug.String() != fmt.Sprint("t", i)) {
					t.Errorf("%s: %s of %q, %v, %v", token, data, tenant.Slug, found, err)
				}
			})
		}
	}
	await(t, "everybody waits for the next one", func() bool { return db.LookupsWaiting() == 60 })
	release()
	all.Wait()
	if n := sent.n.Load() - before; n > 4 {
		t.Errorf("%d statements for 62 sessions", n)
	}
}

// Who leaves while the statement is under way takes nobody with them who shares
// it.
func TestFindSession_WhoLeavesHarmsNobody(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	db := open(t, tenancy.Options{URL: url, Tenant: things, Sessions: 2})
	provision(t, db, "acme")
	signIn(t, db, "acme", "live", time.Hour)
	find := func(ctx context.Context) <-chan error {
		answer := make(chan error, 1)
		go func() {
			_, _, found, err := db.FindSession(ctx, "live")
			if err == nil && !found {
				err = errors.New("not found")
			}
			answer <- err
		}()
		return answer
	}
	both := func() []<-chan error { // a statement for each
		one := find(t.Context())
		await(t, "it waits for the lock", func() bool { return pgtest.Waiting(t, url) == 1 })
		other := find(t.Context())
		await(t, "both connections wait for the lock", func() bool { return pgtest.Waiting(t, url) == 2 })
		return []<-chan error{one, other}
	}
	first := pgtest.Lock(t, url, "public.sessions")
	others := both() // and both connections know the statement
	first()
	for _, other := range others {
		if err := <-other; err != nil {
			t.Fatal(err)
		}
	}
	first = pgtest.Lock(t, url, "public.sessions")
	others = both()
	leaving, leave := context.WithCancel(t.Context())
	left := find(leaving)
	await(t, "it waits for a connection", func() bool { return db.LookupsWaiting() == 1 })
	others = append(others, find(t.Context()))
	await(t, "both wait for a connection", func() bool { return db.LookupsWaiting() == 2 })
	second := make(chan func())
	go func() { second <- pgtest.Lock(t, url, "public.sessions") }()
	await(t, "the next lock is in the queue", func() bool { return pgtest.Waiting(t, url) == 3 })
	first()
	release := <-second
	await(t, "both wait for it in one statement", func() bool { return db.LookupsWaiting() == 0 && pgtest.Waiting(t, url) == 1 })
	leave()
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Errorf("who left was told %v", err)
	}
	for range 20 {
		if pgtest.Waiting(t, url) != 1 {
			t.Fatal("the statement was cancelled")
		}
	}
	release()
	for _, other := range others {
		if err := <-other; err != nil {
			t.Errorf("who stayed was told %v", err)
		}
	}
}

func signIn(t *testing.T, db *tenancy.DB, tenant, token string, lifetime time.Duration) {
	t.Helper()
	err := db.SaveSession(t.Context(), token, tenancy.Session{
		Tenant: slug(t, tenant), UserID: token, Data: []byte(`"` + token + `"`), ExpiresAt: time.Now().Add(lifetime)})
	if err != nil {
		t.Fatal(err)
	}
}
