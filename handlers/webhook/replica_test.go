package webhook_test

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"example.com/subproduct/handlers/config"
	"example.com/subproduct/handlers/handlertest/fixture"
	"example.com/subproduct/handlers/health"
	"example.com/subproduct/handlers/platform"
	"example.com/subproduct/handlers/server"
	"example.com/subproduct/tenancy/inbox"
)

// The test binary is a server when it is told so: real processes, that a test
// can kill.
func TestMain(m *testing.M) {
	if os.Getenv("REPLICA_MIGRATIONS") != "" {
		if err := beReplica(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// beReplica serves until it is killed, or its parent is.
func beReplica() error {
	go func() { _, _ = io.Copy(io.Discard, os.Stdin); os.Exit(0) }()
	c, err := config.LoadDev(os.LookupEnv, os.LookupEnv, fixture.Product().Settings)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	attempts, err := strconv.Atoi(cmp.Or(os.Getenv("REPLICA_ATTEMPTS"), "0")) // 0: as many as in production
	if err != nil {
		return err
	}
	fmt.Println("address " + l.Addr().String())
	log := slog.New(slog.NewTextHandler(freezer{os.Getenv("REPLICA_FREEZES_AT")}, nil))
	product := fixture.Migrating(os.DirFS(os.Getenv("REPLICA_MIGRATIONS")))
	product.Events = eventsWithEffects()
	return server.Serve(context.Background(), product, c, l, log, server.Options{
		Inbox: inbox.Options{Lease: time.Second, FirstRetry: 100 * time.Millisecond, Poll: 200 * time.Millisecond, MaxAttempts: attempts},
	})
}

// freezer is a log that stops the process's work where it says a word: between
// a commit and the answer, for example.
type freezer struct{ at string }

func (f freezer) Write(line []byte) (int, error) {
	n, err := os.Stderr.Write(line)
	if f.at != "" && bytes.Contains(line, []byte(f.at)) {
		select {}
	}
	return n, err
}

// eventsWithEffects are handlers each of whose effects is a row that holds the
// event's bytes, in the transaction of its effect.
func eventsWithEffects() inbox.Handlers {
	return inbox.Handlers{
		platform.SubscriptionCreated: {Apply: effect(nil)},
		platform.TenantCancelled:     {Apply: effect(nil)},
		"effect":                     {Apply: effect(nil)},
		"panic":                      {Apply: effect(func() { panic("boom") })},
		"poison":                     {Apply: effect(func() { os.Exit(3) })},
		"freeze":                     {Apply: effect(func() { _ = syscall.Kill(os.Getpid(), syscall.SIGSTOP) })},
	}
}

// effect records the effect, and does harm while the fuse is there.
func effect(harm func()) inbox.Apply {
	return func(ctx context.Context, tx pgx.Tx, e inbox.Event) error {
		var fuse bool
		err := tx.QueryRow(ctx, `INSERT INTO public.effects (body) VALUES ($1) RETURNING to_regclass('public.fuse') IS NOT NULL`,
			string(e.Body)).Scan(&fuse)
		if err == nil && fuse && harm != nil {
			harm()
		}
		return err
	}
}

// replica is a server process.
type replica struct {
	cmd   *exec.Cmd
	url   string
	ended chan struct{} // closed when the process is gone
	mu    sync.Mutex
	log   bytes.Buffer
}

func (r *replica) Write(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.log.Write(b)
}
func (r *replica) text() string { r.mu.Lock(); defer r.mu.Unlock(); return r.log.String() }

const secret = "secret-of-the-replicas"

// launch starts a server on the database with the migrations of a folder, and
// waits until it is ready.
func launch(t testing.TB, database, migrations string, env ...string) *replica {
	t.Helper()
	r := begin(t, database, migrations, env...)
	await(t, "the replica is ready", func() bool { return health.Check(t.Context(), strings.TrimPrefix(r.url, "http://")) == nil })
	return r
}

// begin starts a server that may end at any time.
func begin(t testing.TB, database, migrations string, env ...string) *replica {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r := &replica{cmd: exec.Command(exe), ended: make(chan struct{})}
	r.cmd.Stderr = r
	r.cmd.Env = append(os.Environ(), "REPLICA_MIGRATIONS="+migrations, "DATABASE_URL="+database, "APP_SLUG=app", "PUBLIC_URL=http://127.0.0.1",
		"PLATFORM_URL=http://127.0.0.1:1", "PLATFORM_BASE_URL=http://127.0.0.1:1", "PLATFORM_API_KEY=key", "WEBHOOK_SECRET="+secret)
	r.cmd.Env = append(r.cmd.Env, env...)
	stdin, err := r.cmd.StdinPipe() // it ends with us
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := r.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = stdin.Close()
		r.kill()
		if t.Failed() {
			t.Logf("a replica's log:\n%s", r.text())
		}
	})
	line, err := bufio.NewReader(stdout).ReadString('\n')
	go func() { _ = r.cmd.Wait(); close(r.ended) }()
	address, ok := strings.CutPrefix(strings.TrimSpace(line), "address ")
	if err != nil || !ok {
		t.Fatalf("a replica does not start: %q, %v\n%s", line, err, r.text())
	}
	r.url = "http://" + address
	return r
}

// kill is kill -9.
func (r *replica) kill() {
	_ = r.cmd.Process.Kill()
	<-r.ended
}

func await(t testing.TB, what string, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(45 * time.Second); !condition(); {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain until %s", what)
		}
		time.Sleep(10 * time.Millisecond)
	}
}
