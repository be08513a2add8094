package inbox_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"example.com/subproduct/tenancy"
	"example.com/subproduct/tenancy/inbox"
	"example.com/subproduct/tenancy/localpg/pgtest"
)

// However many events wait behind one that fails, the poller visits their
// tenant once, by an index.
func TestPoll_VisitsATenantOnce(t *testing.T) {
	t.Parallel()
	d := newHarness(t, quick, nil)
	blocked(t, d.url, 20_000)
	conn := pgtest.Connect(t, d.url)
	defer conn.Close(context.Background())
	rows, err := conn.Query(t.Context(), `EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) `+inbox.DueSQL, "", []string{"effect"}, 4, "nobody")
	if err != nil {
		t.Fatal(err)
	}
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	plan := strings.Join(lines, "\n")
	if !strings.Contains(plan, "webhook_events_queue") || !strings.Contains(plan, "webhook_events_lifecycle_queue") ||
		strings.Contains(plan, "Seq Scan") || strings.Contains(plan, "Rows Removed by Filter: 20000") || strings.Contains(plan, "rows=20000") {
		t.Errorf("it does not go by the index:\n%s", plan)
	}
}

// blocked stores one event of a tenant that is not due, and many behind it, and
// as many that are done.
func blocked(t testing.TB, url string, events int) {
	t.Helper()
	pgtest.Exec(t, url, fmt.Sprintf(`
		INSERT INTO public.webhook_events (event_type, tenant_slug, status, body, body_sha256, next_attempt_at)
		SELECT 'effect', 'acme', 'pending', n::text::bytea, sha256(n::text::bytea), now() + CASE n WHEN 1 THEN interval '1 h' ELSE '0' END
		FROM generate_series(1, %d) n`, events))
	pgtest.Exec(t, url, fmt.Sprintf(`
		INSERT INTO public.webhook_events (event_type, tenant_slug, lifecycle, status, body, body_sha256, processed_at)
		SELECT 'effect', 'acme', n %% 2 = 0, 'done', n::text::bytea, sha256(('done' || n)::bytea), now() FROM generate_series(1, %d) n`, events))
	pgtest.Exec(t, url, `ANALYZE public.webhook_events`)
}

// Whoever waits for a tenant that another process has locked keeps no
// connection and no slot from other tenants, and makes no attempt.
func TestPoll_ABusyTenantKeepsNoSlot(t *testing.T) {
	t.Parallel()
	o := quick
	o.Conns, o.Lease = 2, time.Minute // one slot
	d := newHarness(t, o, nil)
	d.run(t)
	d.want(t, inbox.Applied, "subscription.created", "acme", "")
	conn := pgtest.Connect(t, d.url)
	defer conn.Close(context.Background())
	if _, err := conn.Exec(t.Context(), `SELECT pg_advisory_lock(x'73756270'::int, hashtext('acme'))`); err != nil {
		t.Fatal(err)
	}
	var waiting sync.WaitGroup
	for i := range 3 {
		waiting.Go(func() { d.want(t, inbox.Accepted, "effect", "acme", fmt.Sprint(i)) })
	}
	await(t, "they wait", func() bool {
		return pgtest.Query[int](t, d.url, `SELECT count(*) FROM public.webhook_events WHERE status = 'pending'`) == 3
	})
	began := time.Now()
	d.want(t, inbox.Applied, "subscription.created", "globex", "")
	if took := time.Since(began); took > 3*time.Second { // who waits for the busy one gives up after 4 s
		t.Errorf("another tenant took %v", took)
	}
	waiting.Wait()
	_ = conn.Close(context.Background())
	await(t, "the busy tenant's events are done", func() bool { return d.effects(t, "acme") == 3 })
	if n := pgtest.Query[int](t, d.url, `SELECT max(attempts) FROM public.webhook_events`); n != 1 {
		t.Errorf("%d attempts are counted at an event that was applied at once", n)
	}
}

// One that is always due and always busy does not keep the poller from those that
// come after it by name.
func TestPoll_GoesOnBehindABusyTenant(t *testing.T) {
	t.Parallel()
	o := quick
	o.Conns = 2 // one slot
	d := newHarness(t, o, nil)
	for _, slug := range []string{"a", "b"} {
		d.want(t, inbox.Applied, "subscription.created", slug, "")
	}
	holder := pgtest.Connect(t, d.url)
	defer holder.Close(context.Background())
	if _, err := holder.Exec(t.Context(), `SELECT pg_advisory_lock($1::int, hashtext('a'))`, tenancy.LockKey); err != nil {
		t.Fatal(err)
	}
	held := d.leave(t, delivery("effect", "a", ""))[0]
	behind := d.leave(t, delivery("effect", "b", ""))[0]
	d.run(t)
	d.awaitStatus(t, behind, "done")
	if got := d.status(t, held); got != "pending" {
		t.Errorf("the busy tenant's event is %s", got)
	}
}

// The inbox behind a pooler in transaction mode, with more clients than
// connections.
func TestPoll_ThroughAPooler(t *testing.T) {
	t.Parallel()
	direct := pgtest.URL(t)
	d := joinHarness(t, pgtest.Pooler(t, direct), quick, inbox.Handlers{"bad": {Apply: failing}})
	d.run(t)
	joinHarness(t, d.url, quick, nil).run(t)
	var senders sync.WaitGroup
	for i := range 10 {
		senders.Go(func() {
			slug := fmt.Sprintf("t%d", i)
			d.deliver(t, "subscription.created", slug, "")
			for n := range 5 {
				d.deliver(t, "effect", slug, fmt.Sprint(n))
				d.deliver(t, "effect", slug, fmt.Sprint(n)) // a copy
			}
			d.deliver(t, "tenant.cancelled", slug, "")
		})
	}
	senders.Wait()
	await(t, "all are done", func() bool {
		return pgtest.Query[int](t, direct, `SELECT count(*) FROM public.webhook_events WHERE status <> 'done'`) == 0
	})
	for i := range 10 {
		if n := pgtest.Query[int](t, direct, fmt.Sprintf(`SELECT count(*) FROM tenant_t%d.effects`, i)); n != 5 {
			t.Errorf("t%d: %d effects, want 5", i, n)
		}
	}
}

// BenchmarkPoll is one look for work with 100,000 events blocked behind one.
func BenchmarkPoll(b *testing.B) {
	d := newHarness(b, quick, nil)
	blocked(b, d.url, 100_000)
	conn := pgtest.Connect(b, d.url)
	defer conn.Close(context.Background())
	for b.Loop() {
		if _, err := conn.Exec(b.Context(), inbox.DueSQL, "", []string{"effect"}, 4, "nobody"); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkBacklog drains 1,000 events of one tenant, stored before.
func BenchmarkBacklog(b *testing.B) {
	d := newHarness(b, inbox.Options{}, nil)
	d.want(b, inbox.Applied, "subscription.created", "acme", "")
	total := 0
	for b.Loop() {
		total += 1000
		pgtest.Exec(b, d.url, fmt.Sprintf(`
			INSERT INTO public.webhook_events (event_type, tenant_slug, status, body, body_sha256)
			SELECT 'effect', 'acme', 'pending', n::text::bytea, sha256(n::text::bytea) FROM generate_series(%d, %d) n`, total-999, total))
		d.deliver(b, "effect", "acme", fmt.Sprint("kick", total))
		await(b, "the backlog is gone", func() bool {
			return pgtest.Query[int](b, d.url, `SELECT count(*) FROM public.webhook_events WHERE status = 'pending'`) == 0
		})
	}
	b.ReportMetric(float64(total)/b.Elapsed().Seconds(), "events/s")
}
