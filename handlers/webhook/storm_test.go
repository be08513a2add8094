package webhook_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	stormTenants     = 200
	eventsOfATenant  = 10
	stormConnections = 32
	stormKills       = 3
)

// storm is two replicas, what the senders have heard, and where the replicas
// are at the moment.
type storm struct {
	*base
	urls       [2]atomic.Pointer[string]
	deliveries atomic.Int64
	finished   atomic.Int64
	mu         sync.Mutex
	heard      map[string]bool // body → acknowledged
	slowest    time.Duration
}

// Two replicas, 2,000 events over 200 tenants from 32 connections, both
// replicas killed hard and restarted three times while it goes on. Half of the
// tenants get their events one after the other, as the platform would send
// them; the other half all at once.
func TestStorm_NoEventIsLostDoubledOrOutOfOrder(t *testing.T) {
	if testing.Short() {
		t.Skip("half a minute")
	}
	t.Parallel()
	s := &storm{base: newBase(t), heard: map[string]bool{}}
	dir := folder(t, plain)
	replicas := [2]*replica{s.launch(t, 0, dir), s.launch(t, 1, dir)}
	began := time.Now()
	var senders sync.WaitGroup
	work := make(chan []string)
	for range stormConnections {
		senders.Go(func() {
			for events := range work {
				for _, body := range events {
					s.deliver(t, body)
				}
			}
		})
	}
	fed := make(chan struct{})
	go func() { feed(work); close(fed) }()
	for kill := range stormKills {
		await(t, "the storm goes on", func() bool {
			return s.finished.Load() >= int64((kill+1)*stormTenants*eventsOfATenant/(stormKills+1))
		})
		for i := range replicas {
			replicas[i].kill()
		}
		for i := range replicas {
			replicas[i] = s.launch(t, i, dir)
		}
	}
	<-fed
	senders.Wait()
	acknowledged := s.acknowledged()
	t.Logf("%d events in %d deliveries and %v; %d acknowledged; slowest answer %v",
		len(s.heard), s.deliveries.Load(), time.Since(began).Round(time.Millisecond), len(acknowledged), s.slowest)
	await(t, "nothing is pending", func() bool {
		return s.ask(`SELECT count(*) FROM public.webhook_events WHERE status = 'pending'`) == "0"
	})
	s.judge(t, acknowledged)
}

func (s *storm) launch(t *testing.T, i int, dir string) *replica {
	r := launch(t, s.url, dir)
	s.urls[i].Store(&r.url)
	return r
}

// feed gives the senders the events of every tenant: in one piece where they
// keep their order, singly where they may come in any. These have their tenant
// made first: one that was cancelled before it ever was cannot have effects.
func feed(work chan<- []string) {
	defer close(work)
	for tenant := stormTenants / 2; tenant < stormTenants; tenant++ {
		work <- stormEvents(tenant)[:1]
	}
	for tenant := range stormTenants / 2 {
		work <- stormEvents(tenant)
		for _, body := range stormEvents(tenant + stormTenants/2)[1:] {
			work <- []string{body}
		}
	}
}

// stormEvents begin a tenant, cancel and renew it, and leave it cancelled where
// its number is odd.
func stormEvents(tenant int) (events []string) {
	types := [eventsOfATenant]string{"subscription.created", "effect", "effect", "tenant.cancelled", "effect",
		"subscription.created", "effect", "effect", "effect", "effect"}
	if tenant%2 == 1 {
		types[eventsOfATenant-1] = "tenant.cancelled"
	}
	for i, eventType := range types {
		events = append(events, event(eventType, tenantOf(tenant), i))
	}
	return events
}

func tenantOf(i int) string { return fmt.Sprintf("t%d", i) }

// deliver keeps what the platform would: acknowledged, or given up.
func (s *storm) deliver(t *testing.T, body string) {
	heard := send(func() string { return *s.urls[s.deliveries.Add(1)%2].Load() }, body)
	s.mu.Lock()
	defer s.mu.Unlock()
	if heard.took >= 5*time.Second {
		t.Errorf("%s: %d after %v, %v", body, heard.code, heard.took, heard.err)
	}
	s.slowest = max(s.slowest, heard.took)
	s.heard[body] = heard.acknowledged()
	s.finished.Add(1)
}

func (s *storm) acknowledged() []string {
	return slices.DeleteFunc(slices.Collect(maps.Keys(s.heard)), func(body string) bool { return !s.heard[body] })
}

// judge holds the database against what was acknowledged.
func (s *storm) judge(t *testing.T, acknowledged []string) {
	if len(acknowledged) < stormTenants*eventsOfATenant*9/10 {
		t.Errorf("only %d events were acknowledged", len(acknowledged))
	}
	s.wantNone(t, "acknowledged and not done",
		`SELECT concat(a, ': ', e.status, ', ', e.last_error) FROM unnest($1::text[]) a
		 LEFT JOIN public.webhook_events e ON e.body = convert_to(a, 'UTF8') WHERE e.status IS DISTINCT FROM 'done'`, acknowledged)
	// A lifecycle event whose answer was lost is sent again. Where its tenant has
	// received a later one meanwhile, which it does where all come at once, the
	// same bytes are a new event.
	s.wantNone(t, "stored twice",
		`SELECT convert_from(e.body, 'UTF8') FROM public.webhook_events e JOIN public.webhook_events again ON again.body = e.body AND again.id > e.id
		 WHERE NOT e.lifecycle OR NOT EXISTS (SELECT FROM public.webhook_events l
			WHERE l.tenant_slug = e.tenant_slug AND l.lifecycle AND l.id > e.id AND l.id < again.id)`)
	s.wantNone(t, "applied more often than it was stored",
		`SELECT body FROM public.effects f GROUP BY body
		 HAVING count(*) > (SELECT count(*) FROM public.webhook_events e WHERE e.body = convert_to(f.body, 'UTF8') AND e.last_error IS NULL)`)
	s.wantNone(t, "done without its effect, though not void",
		`SELECT convert_from(e.body, 'UTF8') FROM public.webhook_events e WHERE e.status = 'done' AND e.last_error IS NULL
		 AND NOT EXISTS (SELECT FROM public.effects f WHERE f.body = convert_from(e.body, 'UTF8'))`)
	s.wantNone(t, "not in the state of the last event that was received",
		`SELECT t.slug FROM public.tenants t JOIN LATERAL (
			SELECT event_type FROM public.webhook_events e WHERE e.tenant_slug = t.slug AND e.event_type <> 'effect' ORDER BY id DESC LIMIT 1) l ON true
		 WHERE t.status <> CASE l.event_type WHEN 'tenant.cancelled' THEN 'cancelled' ELSE 'active' END`)
	for tenant := range stormTenants / 2 {
		s.wantLastState(t, tenant)
	}
}

func (s *storm) wantNone(t *testing.T, what, sql string, args ...any) {
	t.Helper()
	conn := s.connect()
	defer conn.Close(context.Background())
	rows, err := conn.Query(context.Background(), sql, args...)
	if err != nil {
		t.Fatal(err)
	}
	found, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	if len(found) > 0 {
		t.Errorf("%s: %d, for example %s", what, len(found), found[0])
	}
}

// wantLastState holds a tenant whose events came in order against the order in
// which they were sent.
func (s *storm) wantLastState(t *testing.T, tenant int) {
	t.Helper()
	events := stormEvents(tenant)
	want := "active"
	if tenant%2 == 1 {
		want = "cancelled"
	}
	// One that was given up may or may not have been stored.
	if !s.heard[events[0]] || !s.heard[events[5]] || !s.heard[events[eventsOfATenant-1]] {
		return
	}
	if got := s.ask(`SELECT status FROM public.tenants WHERE slug = $1`, tenantOf(tenant)); got != want {
		t.Errorf("%s is %s, want %s", tenantOf(tenant), got, want)
	}
}
