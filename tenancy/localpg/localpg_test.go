package localpg

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

func TestStart_Temporary(t *testing.T) {
	t.Parallel()
	s := serve(t, Options{})
	conn := connect(t, s.URL("postgres"))
	for name, want := range map[string]string{"listen_addresses": "", "server_encoding": "UTF8", "fsync": "off", "timezone": "UTC"} {
		if got := query(t, conn, "SHOW "+name); got != want {
			t.Errorf("%s: got %q", name, got)
		}
	}
	if info, err := os.Stat(s.scratch); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("others may enter the socket's directory: %v %v", info.Mode(), err)
	}
	for range 2 {
		stop(t, s)
	}
	if left := processes(s.scratch); left != nil || exists(s.scratch) {
		t.Errorf("after Stop there still are %s and %v", s.scratch, left)
	}
	if err := s.Resume(t.Context()); err == nil {
		t.Error("Resume after Stop starts something")
	}
}

func TestStart_KeptData(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(openDir(t), "a", "b c")
	for _, want := range []string{"1", "2"} {
		s := serve(t, Options{DataDir: dir})
		conn := connect(t, s.URL("postgres"))
		query(t, conn, "CREATE TABLE IF NOT EXISTS kept (n int); INSERT INTO kept VALUES (1)")
		if got := query(t, conn, "SELECT count(*) FROM kept"); got != want {
			t.Errorf("got %s rows, want %s", got, want)
		}
		if major := query(t, conn, "SELECT current_setting('server_version_num')::int / 10000"); filepath.Base(s.cluster()) != "pg"+major {
			t.Errorf("the cluster of PostgreSQL %s is %s", major, s.cluster())
		}
		stop(t, s)
	}
}

func TestStart_Params(t *testing.T) {
	t.Parallel()
	s := serve(t, Options{Params: map[string]string{"max_connections": "17", "port": "1", "listen_addresses": "*", "cluster_name": "it's $HOME"}})
	conn := connect(t, s.URL("postgres"))
	for name, want := range map[string]string{"max_connections": "17", "listen_addresses": "", "cluster_name": "it's $HOME"} {
		if got := query(t, conn, "SHOW "+name); got != want {
			t.Errorf("%s: got %q", name, got)
		}
	}
	_, err := Start(t.Context(), Options{Params: map[string]string{"shared_buffers": "nonsense"}})
	if err == nil || !strings.Contains(err.Error(), `invalid value for parameter "shared_buffers"`) {
		t.Errorf("the error does not show the log: %v", err)
	}
}

func TestStart_EndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Start(ctx, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestURL_AnyDatabase(t *testing.T) {
	t.Parallel()
	s := serve(t, Options{})
	const name = `od'd? %name`
	query(t, connect(t, s.URL("postgres")), `CREATE DATABASE "`+name+`"`)
	if got := query(t, connect(t, s.URL(name)), "SELECT current_database()"); got != name {
		t.Errorf("got %s", got)
	}
}

func TestHalt_Resume(t *testing.T) {
	t.Parallel()
	s := serve(t, Options{})
	query(t, connect(t, s.URL("postgres")), "CREATE TABLE kept (n int)")
	for _, mode := range []string{"immediate", "fast"} {
		conn := connect(t, s.URL("postgres"))
		if err := s.Halt(t.Context(), mode); err != nil {
			t.Fatal(err)
		}
		if conn.Ping(t.Context()) == nil {
			t.Errorf("%s: postgres still runs", mode)
		}
		if err := s.Resume(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := query(t, connect(t, s.URL("postgres")), "SELECT count(*) FROM kept"); got != "0" {
			t.Errorf("%s: got %s", mode, got)
		}
	}
	if err := s.Resume(t.Context()); err == nil {
		t.Error("Resume starts a second postgres")
	}
	if err := s.Restart(t.Context(), "gentle"); err == nil {
		t.Error("an unknown mode is taken")
	}
	connect(t, s.URL("postgres"))
	if err := s.Halt(t.Context(), "fast"); err != nil {
		t.Error(err)
	}
	stop(t, s)
	mustVanish(t, s.scratch)
}

func TestHalt_Smart(t *testing.T) {
	t.Parallel()
	s := serve(t, Options{})
	conn := connect(t, s.URL("postgres"))
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- s.Halt(ctx, "smart") }()
	eventually(t, "no new client is let in", func() bool {
		other, err := pgx.Connect(t.Context(), s.URL("postgres"))
		if err == nil {
			_ = other.Close(t.Context())
		}
		return err != nil
	})
	if err := conn.Ping(t.Context()); err != nil {
		t.Errorf("the client was sent away: %v", err)
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
