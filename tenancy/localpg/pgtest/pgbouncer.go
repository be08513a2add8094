package pgtest

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// poolSize is far under what a test has of clients, so that connections to the
// server are passed around between them.
const poolSize = 8

// Pooler starts a PgBouncer in transaction mode in front of the server of a URL
// of this package, and returns the same database's URL through it. The test is
// skipped where PgBouncer is not installed, but not in CI.
func Pooler(t testing.TB, direct string) string {
	t.Helper()
	return PoolerIn(t, "transaction", direct)
}

// PoolerIn is Pooler for one of PgBouncer's modes.
func PoolerIn(t testing.TB, mode, direct string) string {
	t.Helper()
	program := findPooler()
	const missing = "PgBouncer is not installed (Debian: apt-get install pgbouncer)"
	switch {
	case program == "" && os.Getenv("CI") != "":
		t.Fatal(missing)
	case program == "":
		t.Skip(missing)
	}
	u, err := url.Parse(direct)
	if err != nil {
		t.Fatal(err)
	}
	dir := poolerFiles(t, mode, u)
	through := url.URL{Scheme: "postgres", User: u.User, Path: u.Path, RawQuery: url.Values{
		"host": {dir}, "port": {poolerPort}, "sslmode": {"disable"}, "default_query_exec_mode": {"exec"},
	}.Encode()}
	log := startPooler(t, program, dir)
	awaitPooler(t, through.String(), log)
	return through.String()
}

// findPooler also looks where Debian puts servers: not in everybody's PATH.
func findPooler() string {
	for _, candidate := range []string{"pgbouncer", "/usr/sbin/pgbouncer"} {
		if path, err := exec.LookPath(candidate); err == nil {
			return path
		}
	}
	return ""
}

// poolerPort only names the socket's file: nothing listens on the network.
const poolerPort = "6432"

// poolerFiles writes the configuration into a path that is short, for a
// socket's may have 107 bytes, and that any user may enter.
func poolerFiles(t testing.TB, mode string, server *url.URL) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "pgb")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	settings := fmt.Sprintf(`[databases]
* = host=%s port=%s user=%s
[pgbouncer]
listen_addr =
listen_port = %s
unix_socket_dir = %s
auth_type = any
pool_mode = %s
default_pool_size = %d
max_client_conn = 500
`, server.Query().Get("host"), server.Query().Get("port"), server.User.Username(), poolerPort, dir, mode, poolSize)
	err = os.WriteFile(filepath.Join(dir, "pgbouncer.ini"), []byte(settings), 0o644)
	if err == nil {
		err = os.Chmod(dir, 0o777)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// startPooler runs PgBouncer under a shell that ends it when this process does,
// however that comes about: its standard input ends then.
func startPooler(t testing.TB, program, dir string) (log string) {
	t.Helper()
	run := []string{"-c", `"$@" & cat >/dev/null; kill $!; wait $!`, "sh", program}
	if os.Geteuid() == 0 {
		run = append(run, "-u", "postgres") // it refuses to be root
	}
	command := exec.Command("/bin/sh", append(run, filepath.Join(dir, "pgbouncer.ini"))...)
	stdin, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	output, err := os.Create(filepath.Join(t.TempDir(), "pgbouncer.log"))
	if err != nil {
		t.Fatal(err)
	}
	command.Stdout, command.Stderr = output, output
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = stdin.Close(); _ = command.Wait(); _ = output.Close() })
	return output.Name()
}

func awaitPooler(t testing.TB, through, log string) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		conn, err := pgx.Connect(ctx, through)
		if err == nil {
			err = conn.Ping(ctx)
			_ = conn.Close(ctx)
		}
		cancel()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			said, _ := os.ReadFile(log)
			t.Fatalf("PgBouncer does not answer: %v\n%s", err, said)
		}
	}
}
