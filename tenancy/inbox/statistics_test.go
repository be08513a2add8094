package inbox_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"example.com/subproduct/tenancy/inbox"
	"example.com/subproduct/tenancy/localpg/pgtest"
)

func TestStatistics_CountEventsAndTenants(t *testing.T) {
	t.Parallel()
	direct := pgtest.URL(t)
	ways := map[string]string{"directly": direct, "through a pooler": pgtest.Pooler(t, direct)}
	for _, way := range []string{"directly", "through a pooler"} { // in this order: both are one database
		d := joinHarness(t, ways[way], quick, inbox.Handlers{"bad": {Apply: failing}})
		if got, err := d.inbox.Statistics(t.Context()); err != nil || way == "directly" && len(got.Tenants) > 0 {
			t.Errorf("%s: at the beginning: %+v, %v", way, got, err)
		}
		pgtest.Exec(t, direct, `DELETE FROM public.webhook_events`)
		d.want(t, inbox.Applied, "subscription.created", "acme", "")
		d.want(t, inbox.Unhandled, "news", "acme", "")
		d.want(t, inbox.Rejected, "effect", "", "")
		d.want(t, inbox.FailedOnce, "bad", "acme", "")
		pgtest.Exec(t, direct, `UPDATE public.webhook_events SET received_at = now() - interval '1 minute' WHERE status = 'pending'`)
		pgtest.Exec(t, direct, `INSERT INTO public.tenants (slug, status, schema_version, migrate_error) VALUES
			('b', 'active', 0, 'why'), ('c', 'active', 0, NULL), ('d', 'cancelled', 0, NULL) ON CONFLICT DO NOTHING`)
		got, err := d.inbox.Statistics(t.Context())
		if err != nil || got.Pending != 1 || got.Failed != 1 || got.OldestPending.Round(time.Minute) != time.Minute || got.ReadOnly {
			t.Errorf("%s: %+v, %v", way, got, err)
		}
		for _, want := range []inbox.TenantCount{{"active", 1, 1, 0}, {"active", 0, 2, 1}, {"cancelled", 0, 1, 0}} {
			if !slices.Contains(got.Tenants, want) {
				t.Errorf("%s: no %+v in %+v", way, want, got.Tenants)
			}
		}
	}
}

// Events that are finished cost nothing, however many they are.
func TestStatistics_ReadNoFinishedEvents(t *testing.T) {
	t.Parallel()
	d := newHarness(t, quick, nil)
	crowded(t, d.url, 20_000, 0)
	conn := pgtest.Connect(t, d.url)
	defer conn.Close(context.Background())
	rows, err := conn.Query(t.Context(), `EXPLAIN (COSTS OFF) `+inbox.StatisticsSQL)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || strings.Contains(strings.Join(plan, "\n"), "Seq Scan on webhook_events") {
		t.Errorf("the plan reads all events:\n%s\n%v", strings.Join(plan, "\n"), err)
	}
}

// crowded has a database with so many events and 10,000 tenants.
func crowded(t testing.TB, url string, done, pending int) {
	t.Helper()
	const event = `INSERT INTO public.webhook_events (event_type, tenant_slug, status, body, body_sha256, processed_at)
		SELECT 'effect', 't' || n %% 1000, '%[1]s', repeat('x', 500)::bytea, sha256(('%[1]s' || n)::bytea), now() FROM generate_series(1, %[2]d) n`
	pgtest.Exec(t, url, fmt.Sprintf(event, inbox.Done, done))
	pgtest.Exec(t, url, fmt.Sprintf(event, inbox.Pending, pending))
	pgtest.Exec(t, url, `INSERT INTO public.tenants (slug, schema_version) SELECT 't' || n, n % 3 FROM generate_series(1, 10000) n`)
	pgtest.Exec(t, url, `ANALYZE public.webhook_events, public.tenants`)
}

// BenchmarkStatistics is one reading with 100,000 events that are finished and
// 10,000 tenants, by how many events are pending.
func BenchmarkStatistics(b *testing.B) {
	for _, pending := range []int{100, 100_000} {
		b.Run(fmt.Sprint(pending), func(b *testing.B) {
			d := newHarness(b, quick, nil)
			crowded(b, d.url, 100_000, pending)
			for b.Loop() {
				if _, err := d.inbox.Statistics(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
