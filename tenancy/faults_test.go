package tenancy_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"example.com/subproduct/tenancy"
	"example.com/subproduct/tenancy/localpg/pgtest"
)

func TestIsUnavailable_GoesByWhoseFaultItIs(t *testing.T) {
	t.Parallel()
	_, refused := (&net.Dialer{}).DialContext(t.Context(), "tcp", "127.0.0.1:1")
	_, noDatabase := pgx.Connect(t.Context(), "postgres://x@127.0.0.1:1/x")
	state := func(code string) error { return fmt.Errorf("find: %w", &pgconn.PgError{Code: code}) }
	for _, c := range []struct {
		name string
		err  error
		want bool
	}{
		{"the database refuses connections", noDatabase, true}, {"too many connections", state("53300"), true},
		{"disk full", state("53100"), true}, {"terminated", state("57P01"), true}, {"starting up", state("57P03"), true},
		{"a worker is gone", state("08006"), true}, {"input or output fails", state("58030"), true},
		{"over its time", state("57014"), true}, {"read-only", state("25006"), true}, {"closed before", pgconn.ErrConnClosed, true},
		{"nothing", nil, false}, {"a handler's own", errors.New("no"), false}, {"a handler's own connection", refused, false},
		{"a handler's own reader", io.ErrUnexpectedEOF, false}, {"a reset elsewhere", syscall.ECONNRESET, false},
		{"wrong SQL", state("42601"), false}, {"unique", state("23505"), false}, {"division", state("22012"), false},
		{"deadlock", state("40P01"), false}, {"no row", pgx.ErrNoRows, false}, {"no tenant", tenancy.ErrNoTenant, false},
	} {
		if got := tenancy.IsUnavailable(c.err); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// kill ends all of the database's other connections.
func kill(t *testing.T, url string) {
	t.Helper()
	pgtest.Exec(t, url, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`)
}

// A connection that is lost is the database's fault, wherever in a transaction
// that happens, and also where the handler goes on with it.
func TestInTx_ALostConnectionIsTheDatabasesFault(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	db := open(t, tenancy.Options{URL: url, Tenant: things, MaxConns: 1})
	acme := provision(t, db, "acme")
	for name, fn := range map[string]func(pgx.Tx) error{
		"in a statement": func(tx pgx.Tx) error {
			time.AfterFunc(100*time.Millisecond, func() { kill(t, url) })
			_, err := tx.Exec(acme, `SELECT pg_sleep(10)`)
			return err
		},
		"between two": func(tx pgx.Tx) error {
			kill(t, url)
			_, err := tx.Exec(acme, `SELECT 1`)
			return err
		},
		"hidden, then used again": func(tx pgx.Tx) error {
			kill(t, url)
			_, _ = tx.Exec(acme, `SELECT 1`)
			_, err := tx.Exec(acme, `SELECT 1`)
			return err
		},
		"before COMMIT": func(pgx.Tx) error { kill(t, url); return nil },
	} {
		if err := db.InTx(acme, fn); !tenancy.IsUnavailable(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	kill(t, url)
	if err := add(acme, db, "acme"); err != nil && !tenancy.IsUnavailable(err) { // at BEGIN
		t.Error(err)
	}
	own := errors.New("own")
	if err := db.InTx(acme, func(pgx.Tx) error { kill(t, url); return own }); !errors.Is(err, own) || tenancy.IsUnavailable(err) {
		t.Errorf("an error of the handler's own became %v", err)
	}
}

// A server that answers but takes no writes loses all its connections: the
// next ones go to the primary, where the URL knows it.
func TestReadOnly_TheNextConnectionGoesToThePrimary(t *testing.T) {
	t.Parallel()
	first, second := pgtest.NewServer(t), pgtest.NewServer(t)
	both := twoHosts(t, first.URL("postgres"), second.URL("postgres"))
	standIn := open(t, tenancy.Options{URL: second.URL("postgres"), Tenant: things}) // as replication would have it
	provision(t, standIn, "acme")
	db := open(t, tenancy.Options{URL: both, Tenant: things, MaxConns: 4})
	acme := provision(t, db, "acme")
	warm(t, acme, db, 4)
	pgtest.Exec(t, first.URL("postgres"), `ALTER SYSTEM SET default_transaction_read_only TO on`)
	pgtest.Exec(t, first.URL("postgres"), `SELECT pg_reload_conf()`)
	demoted := time.Now()
	failures := 0
	for err := add(acme, db, "acme"); err != nil || len(mustOwners(t, acme, standIn)) == 0; err = add(acme, db, "acme") {
		if err != nil {
			failures++
		}
		if err != nil && !tenancy.IsUnavailable(err) || time.Since(demoted) > 10*time.Second {
			t.Fatalf("after %v: %v", time.Since(demoted), err)
		}
	}
	for range 8 { // none of the others is left
		if err := add(acme, db, "acme"); err != nil {
			t.Error(err)
		}
	}
	if failures > 2 {
		t.Errorf("%d writes failed, want one a connection in use", failures)
	}
}

// twoHosts is a URL of two servers of which the one is wanted that takes writes.
func twoHosts(t *testing.T, first, second string) string {
	t.Helper()
	a, err := url.Parse(first)
	if err != nil {
		t.Fatal(err)
	}
	b, err := url.Parse(second)
	if err != nil {
		t.Fatal(err)
	}
	q, r := a.Query(), b.Query()
	for _, name := range []string{"host", "port"} {
		q.Set(name, q.Get(name)+","+r.Get(name))
	}
	q.Set("target_session_attrs", "read-write")
	a.RawQuery = q.Encode()
	return a.String()
}

// warm has the pool open so many connections.
func warm(t *testing.T, ctx context.Context, db *tenancy.DB, n int) {
	t.Helper()
	var nested func(n int) error
	nested = func(n int) error {
		return db.InTx(ctx, func(pgx.Tx) error {
			if n == 1 {
				return nil
			}
			return nested(n - 1)
		})
	}
	if err := nested(n); err != nil {
		t.Fatal(err)
	}
}

func mustOwners(t *testing.T, ctx context.Context, db *tenancy.DB) []string {
	t.Helper()
	found, err := owners(ctx, db)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// The server ends by itself what outlives a deadline; work without one, such as
// that of EachTenant, has no limit.
func TestStatementTimeout_FollowsTheDeadline(t *testing.T) {
	t.Parallel()
	db := open(t, tenancy.Options{Tenant: things})
	acme := provision(t, db, "acme")
	limited, cancel := context.WithTimeout(acme, time.Minute)
	defer cancel()
	limit := func(ctx context.Context, in func(context.Context, func(pgx.Tx) error) error) (ms int) {
		err := in(ctx, func(tx pgx.Tx) error {
			return tx.QueryRow(ctx, `SELECT setting::int FROM pg_settings WHERE name = 'statement_timeout'`).Scan(&ms)
		})
		if err != nil {
			t.Fatal(err)
		}
		return ms
	}
	for name, in := range map[string]func(context.Context, func(pgx.Tx) error) error{"InTx": db.InTx, "InShared": db.InShared} {
		if ms := limit(limited, in); ms < 50_000 || ms > 61_000 {
			t.Errorf("%s with a minute left: %d ms", name, ms)
		}
		if ms := limit(acme, in); ms != 0 {
			t.Errorf("%s without a deadline: %d ms", name, ms)
		}
	}
	err := db.EachTenant(t.Context(), func(ctx context.Context) error {
		if ms := limit(ctx, db.InTx); ms != 0 {
			t.Errorf("EachTenant: %d ms", ms)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// A peer that acknowledges nothing is given up after some seconds, as a network
// that swallows packets is; here its window is shut.
func TestDial_ASilentPeerIsGivenUp(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux is told how long")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() // nobody accepts, so nobody reads
	conn, err := tenancy.Dial(t.Context(), "tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	began := time.Now()
	_ = conn.SetDeadline(began.Add(30 * time.Second))
	_, err = io.Copy(conn, zeros{})
	if took := time.Since(began); !tenancy.IsUnavailable(err) || !errors.Is(err, syscall.ETIMEDOUT) || took > 20*time.Second {
		t.Errorf("%v after %v", err, took)
	}
}

// zeros never end.
type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }

// A Unix socket is dialled the same way.
func TestDial_AUnixSocket(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("unix", t.TempDir()+"/s")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	conn, err := tenancy.Dial(t.Context(), "unix", l.Addr().String())
	if err != nil || !strings.HasSuffix(conn.RemoteAddr().String(), "/s") {
		t.Fatal(conn, err)
	}
	conn.Close()
}
