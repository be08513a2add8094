package webhook_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"example.com/subproduct/tenancy/localpg"
	"example.com/subproduct/tenancy/localpg/pgtest"
)

func TestStorm_PostgresCrashesInTheMiddle(t *testing.T) {
	t.Parallel()
	server := pgtest.NewServer(t)
	b := baseAt(t, server.URL("postgres"))
	r := launch(t, b.url, folder(t, plain))
	for i := range 10 {
		expect(t, r, event("subscription.created", fmt.Sprintf("t%d", i), i), http.StatusOK)
	}
	var senders sync.WaitGroup
	acknowledged := make(chan string, 400)
	for s := range 8 {
		senders.Go(func() {
			for i := range 50 {
				body := event("effect", fmt.Sprintf("t%d", (s+i)%10), 1000*s+i)
				if send(func() string { return r.url }, body).acknowledged() {
					acknowledged <- body
				}
			}
		})
	}
	for range 2 {
		n := len(acknowledged)
		await(t, "the storm goes on", func() bool { return len(acknowledged) >= n+50 })
		if err := server.Restart(t.Context(), "immediate"); err != nil {
			t.Fatal(err)
		}
	}
	senders.Wait()
	close(acknowledged)
	if len(acknowledged) < 200 {
		t.Errorf("only %d of 400 events were acknowledged", len(acknowledged))
	}
	for body := range acknowledged {
		b.awaitStatus(body, "done")
		b.wantEffects(body, 1)
	}
}

func TestFaults_PostgresIsUnreachable(t *testing.T) {
	t.Parallel()
	server := pgtest.NewServer(t)
	b := baseAt(t, server.URL("postgres"))
	r := launch(t, b.url, folder(t, plain))
	if err := server.Halt(t.Context(), "fast"); err != nil {
		t.Fatal(err)
	}
	body := event("subscription.created", "acme", 1)
	expect(t, r, body, http.StatusServiceUnavailable)
	if err := server.Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.wantNothing(body)
	await(t, "the platform's retry is acknowledged", func() bool { return deliverTo(r.url, body).acknowledged() })
	b.awaitStatus(body, "done")
	b.wantEffects(body, 1)
}

// wantNothing wants that an event has left no trace.
func (b *base) wantNothing(body string) {
	b.t.Helper()
	if got := b.status(body); got != "none" {
		b.t.Errorf("%s is %s, want it not stored", body, got)
	}
	if got := b.ask(`SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'tenant_%'`); got != "0" {
		b.t.Errorf("%s tenants are there, want none", got)
	}
}

func TestFaults_PostgresIsReadOnly(t *testing.T) {
	t.Parallel()
	b := newBase(t)
	r := launch(t, b.url, folder(t, plain))
	b.setReadOnly("on")
	body := event("subscription.created", "acme", 1)
	await(t, "PostgreSQL itself refuses the event", func() bool { // and not a connection that was just ended
		expect(t, r, body, http.StatusServiceUnavailable)
		return strings.Contains(r.text(), "in a read-only transaction")
	})
	b.setReadOnly("off")
	b.wantNothing(body)
	await(t, "the platform's retry is acknowledged", func() bool { return deliverTo(r.url, body).acknowledged() })
	b.awaitStatus(body, "done")
	b.wantEffects(body, 1)
}

// setReadOnly makes every transaction read-only, as on a standby.
func (b *base) setReadOnly(to string) {
	b.t.Helper()
	admin := base{b.t, pgtest.Admin(b.t, b.url)}
	admin.exec(`SET transaction_read_only TO off; DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_read_only TO ` + to + `', current_database()); END $$`)
	b.exec(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'fixture'`)
}

func TestFaults_PostgresIsOutOfConnections(t *testing.T) {
	t.Parallel()
	server, err := localpg.Start(t.Context(), localpg.Options{Fast: true, Params: map[string]string{
		"max_connections": "12", "superuser_reserved_connections": "1"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Stop() })
	b := baseAt(t, server.URL("postgres"))
	r := launch(t, b.url, folder(t, plain))
	crowd := b.crowd()
	body := event("subscription.created", "acme", 1)
	expect(t, r, body, http.StatusServiceUnavailable)
	for _, conn := range crowd {
		_ = conn.Close(context.Background())
	}
	await(t, "there is room again", func() bool { return strings.HasPrefix(b.tryAsk(`SELECT 1`), "1") })
	b.wantNothing(body)
	await(t, "the platform's retry is acknowledged", func() bool { return deliverTo(r.url, body).acknowledged() })
	b.awaitStatus(body, "done")
	b.wantEffects(body, 1)
}

// crowd takes every connection of the server, also those that the replica has.
func (b *base) crowd() (conns []*pgx.Conn) {
	b.t.Helper()
	for {
		conn, err := pgx.Connect(context.Background(), b.url)
		if err == nil {
			conns = append(conns, conn)
			continue
		}
		var evicted int
		err = conns[0].QueryRow(context.Background(), `
			SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = 'fixture'`).Scan(&evicted)
		if err != nil {
			b.t.Fatal(err)
		}
		if evicted == 0 {
			return conns
		}
	}
}

func (b *base) tryAsk(sql string) (value string) {
	conn, err := pgx.Connect(context.Background(), b.url)
	if err != nil {
		return err.Error()
	}
	defer conn.Close(context.Background())
	_ = conn.QueryRow(context.Background(), `SELECT (`+sql+`)::text`).Scan(&value)
	return value
}

// A migration that fails and is repaired in the next deployment, or in the
// database, heals without another hand.
func TestFaults_AMigrationThatFailsHeals(t *testing.T) {
	t.Parallel()
	b := newBase(t)
	dir := folder(t, `CREATE TABLE a AS SELECT * FROM public.not_there_yet`)
	r := launch(t, b.url, dir)
	first, second := event("subscription.created", "acme", 1), event("subscription.created", "globex", 2)
	expect(t, r, first, http.StatusInternalServerError)
	b.wantEffects(first, 0)
	b.exec(`CREATE TABLE public.not_there_yet (id bigint)`)
	b.awaitStatus(first, "done")
	b.exec(`DROP TABLE public.not_there_yet`)

	expect(t, r, second, http.StatusInternalServerError)
	r.kill()
	if err := os.WriteFile(filepath.Join(dir, "000001_test.up.sql"), []byte(plain), 0o600); err != nil {
		t.Fatal(err)
	}
	launch(t, b.url, dir)
	b.awaitStatus(second, "done")
	b.wantEffects(first, 1)
	b.wantEffects(second, 1)
}
