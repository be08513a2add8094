package localpg

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestStartStop(t *testing.T) {
	t.Parallel()
	s := serve(t, Options{})
	if got := ask(t, s.URL("postgres"), "SHOW listen_addresses"); got != "" {
		t.Errorf("it listens on %q", got)
	}
	if got := ask(t, s.URL("postgres"), "SHOW server_encoding"); got != "UTF8" {
		t.Errorf("got encoding %q", got)
	}
	if got := ask(t, s.URL("postgres"), "SHOW fsync"); got != "off" {
		t.Errorf("got fsync %q for Fast", got)
	}
	for range 2 {
		if err := s.Stop(); err != nil {
			t.Fatal(err)
		}
	}
	<-s.Done()
	if left := processes(s.SocketDir()); left != nil || exists(s.SocketDir()) {
		t.Errorf("after Stop there still are %s %q", s.SocketDir(), left)
	}
	if err := s.Resume(t.Context()); !errors.Is(err, errStopped) {
		t.Errorf("got %v from Resume after Stop", err)
	}
}

func TestDataStays(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	for _, sql := range []string{"CREATE TABLE kept AS SELECT 1 AS n", "UPDATE kept SET n = n + 1"} {
		s := serve(t, Options{DataDir: filepath.Join(dir, "a", "b c")})
		execute(t, s.URL("postgres"), sql)
		if err := s.Stop(); err != nil {
			t.Fatal(err)
		}
	}
	s := serve(t, Options{DataDir: filepath.Join(dir, "a", "b c")})
	if got := ask(t, s.URL("postgres"), "SELECT n FROM kept"); got != "2" {
		t.Errorf("got %s, want 2", got)
	}
}

func TestURLOfAnyDatabase(t *testing.T) {
	t.Parallel()
	const name = `od"d? %name`
	s := serve(t, Options{})
	if err := s.CreateDatabase(t.Context(), name, ""); err != nil {
		t.Fatal(err)
	}
	if got := ask(t, s.URL(name), "SELECT current_database()"); got != name {
		t.Errorf("pgx: got %s", got)
	}
	psql, err := exec.LookPath("psql")
	if err != nil {
		psql = filepath.Join(s.postgres.bin, "psql")
	}
	if !exists(psql) {
		return // the servers that can be fetched come without it
	}
	out, err := exec.Command(psql, "-XAt", "-c", "SELECT current_database()", s.URL(name)).CombinedOutput()
	if got := strings.TrimSpace(string(out)); err != nil || got != name {
		t.Errorf("psql: %v %s", err, got)
	}
}

func TestCreateDatabaseFromTemplate(t *testing.T) {
	t.Parallel()
	s := serve(t, Options{})
	if err := s.CreateDatabase(t.Context(), "model", ""); err != nil {
		t.Fatal(err)
	}
	conn := connect(t, s.URL("model"))
	if _, err := conn.Exec(t.Context(), "CREATE TABLE kept AS SELECT 7 AS n"); err != nil {
		t.Fatal(err)
	}
	if err := conn.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.CreateDatabase(t.Context(), "copy", "model"); err != nil {
		t.Fatal(err)
	}
	if got := ask(t, s.URL("copy"), "SELECT n FROM kept"); got != "7" {
		t.Errorf("got %s", got)
	}
	if err := s.DropDatabase(t.Context(), "copy"); err != nil {
		t.Errorf("with a client connected: %v", err)
	}
}

func TestFailedStartShowsTheLog(t *testing.T) {
	t.Parallel()
	_, err := Start(t.Context(), Options{Params: map[string]string{"shared_buffers": "nonsense"}})
	if err == nil || !strings.Contains(err.Error(), `invalid value for parameter "shared_buffers"`) {
		t.Errorf("got %v", err)
	}
}

func TestStartEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Start(ctx, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestParamsWin(t *testing.T) {
	t.Parallel()
	s := serve(t, Options{Params: map[string]string{"max_connections": "17", "port": "1", "listen_addresses": "*"}})
	if got := ask(t, s.URL("postgres"), "SHOW max_connections"); got != "17" {
		t.Errorf("got max_connections %s", got)
	}
	if info, err := os.Stat(s.SocketDir()); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the socket's directory: %v %v", info.Mode(), err)
	}
}
