package inbox_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"testing"
	"testing/fstest"
	"time"

	"github.com/jackc/pgx/v5"

	"example.com/subproduct/tenancy"
	"example.com/subproduct/tenancy/inbox"
	"example.com/subproduct/tenancy/localpg/pgtest"
)

var errBoom = errors.New("boom")

// effects counts what events did, for exactly once is told by effects alone.
var effects = files("000001_effects.up.sql", "CREATE TABLE effects (event bigint NOT NULL)")

func files(namesAndSQL ...string) fs.FS {
	m := fstest.MapFS{}
	for i := 0; i < len(namesAndSQL); i += 2 {
		m[namesAndSQL[i]] = &fstest.MapFile{Data: []byte(namesAndSQL[i+1])}
	}
	return m
}

// harness is an inbox on a database of its own.
type harness struct {
	url   string
	db    *tenancy.DB
	inbox *inbox.Inbox
}

// quick are delays for tests.
var quick = inbox.Options{Poll: 10 * time.Millisecond, FirstRetry: 5 * time.Millisecond, Lease: 300 * time.Millisecond}

// newHarness has the template's handlers, and "effect" which records that it ran;
// more adds to these.
func newHarness(t testing.TB, o inbox.Options, more inbox.Handlers) *harness {
	t.Helper()
	return joinHarness(t, pgtest.URL(t), o, more)
}

// joinHarness is one more replica on the same database.
func joinHarness(t testing.TB, url string, o inbox.Options, more inbox.Handlers) *harness {
	t.Helper()
	return openHarness(t, tenancy.Options{URL: url, Tenant: effects, MigrateOnUse: true}, o, more)
}

func openHarness(t testing.TB, database tenancy.Options, o inbox.Options, more inbox.Handlers) *harness {
	t.Helper()
	database.Logger, o.Logger = slog.New(slog.DiscardHandler), slog.New(slog.DiscardHandler)
	db, err := tenancy.Open(context.Background(), database)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	if err := db.MigrateShared(t.Context()); err != nil {
		t.Fatal(err)
	}
	handlers := inbox.Handlers{"effect": {Apply: recordEffect}}
	maps.Copy(handlers, more)
	in, err := inbox.New(db, handlers, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(context.Background()) })
	return &harness{url: database.URL, db: db, inbox: in}
}

func recordEffect(ctx context.Context, tx pgx.Tx, e inbox.Event) error {
	_, err := tx.Exec(ctx, `INSERT INTO effects (event) VALUES ($1)`, e.ID)
	return err
}

func failing(context.Context, pgx.Tx, inbox.Event) error { return errBoom }

func delivery(eventType, slug, salt string) inbox.Delivery {
	body := fmt.Sprintf(`{"eventType":%q,"tenantSlug":%q,"salt":%q}`, eventType, slug, salt)
	return inbox.Delivery{Type: eventType, Tenant: slug, Body: []byte(body), SignedWith: "current"}
}

// deliver delivers an event as the receiver does, and returns the id of the
// newest row with its bytes.
func (d *harness) deliver(t testing.TB, eventType, slug, salt string) (int64, inbox.Outcome) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 4*time.Second)
	defer cancel()
	event := delivery(eventType, slug, salt)
	outcome, err := d.inbox.Deliver(ctx, event)
	if err != nil {
		t.Fatal(err)
	}
	return pgtest.Query[int64](t, d.url, `SELECT max(id) FROM public.webhook_events WHERE body = $1`, event.Body), outcome
}

// want delivers an event and wants this outcome.
func (d *harness) want(t testing.TB, outcome inbox.Outcome, eventType, slug, salt string) int64 {
	t.Helper()
	id, got := d.deliver(t, eventType, slug, salt)
	if got != outcome {
		t.Errorf("%s of %s: outcome %d, want %d (%s)", eventType, slug, got, outcome, d.lastError(t, id))
	}
	return id
}

// leave stores events and leaves them, as a process that was killed does.
func (d *harness) leave(t testing.TB, events ...inbox.Delivery) (ids []int64) {
	t.Helper()
	for _, e := range events {
		ids = append(ids, pgtest.Query[int64](t, d.url, `
			INSERT INTO public.webhook_events (event_type, tenant_slug, lifecycle, status, body, body_sha256)
			VALUES ($1, $2, $1 IN ('subscription.created', 'tenant.cancelled'), 'pending', $3, sha256($3)) RETURNING id`, e.Type, e.Tenant, e.Body))
	}
	return ids
}

// run has the replica's poller take up what is left, until the test ends.
func (d *harness) run(t testing.TB) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); d.inbox.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
}

func (d *harness) status(t testing.TB, id int64) string {
	t.Helper()
	return pgtest.Query[string](t, d.url, `SELECT status FROM public.webhook_events WHERE id = $1`, id)
}

func (d *harness) lastError(t testing.TB, id int64) string {
	t.Helper()
	return pgtest.Query[string](t, d.url, `SELECT coalesce(last_error, '') FROM public.webhook_events WHERE id = $1`, id)
}

func (d *harness) attempts(t testing.TB, id int64) int {
	t.Helper()
	return pgtest.Query[int](t, d.url, `SELECT attempts FROM public.webhook_events WHERE id = $1`, id)
}

func (d *harness) effects(t testing.TB, slug string) int {
	t.Helper()
	return pgtest.Query[int](t, d.url, `SELECT count(*) FROM `+pgx.Identifier{"tenant_" + slug, "effects"}.Sanitize())
}

func (d *harness) wantTenant(t testing.TB, slug, status string) {
	t.Helper()
	if got := pgtest.Query[string](t, d.url, `SELECT coalesce((SELECT status FROM public.tenants WHERE slug = $1), 'none')`, slug); got != status {
		t.Errorf("tenant %s is %s, want %s", slug, got, status)
	}
}

func (d *harness) awaitStatus(t testing.TB, id int64, status string) {
	t.Helper()
	await(t, "the event is "+status, func() bool { return d.status(t, id) == status })
}

// await waits until the condition holds.
func await(t testing.TB, what string, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !condition(); {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain until %s", what)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func slugOf(t testing.TB, s string) tenancy.Slug {
	t.Helper()
	slug, err := tenancy.ParseSlug(s)
	if err != nil {
		t.Fatal(err)
	}
	return slug
}
