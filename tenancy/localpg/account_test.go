package localpg

import (
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"testing"
)

// As an ordinary user, without a home and with a TMPDIR too long for sockets.
func TestAccount_OrdinaryUser(t *testing.T) {
	t.Parallel()
	var a account
	if os.Geteuid() == 0 {
		u, err := user.Lookup("nobody")
		if err != nil {
			t.Fatal(err)
		}
		uid := uint32(mustInt(t, u.Uid))
		a = account{uid: uid, gid: uint32(mustInt(t, u.Gid)), lent: true}
	}
	temp := filepath.Join(openDir(t), strings.Repeat("long", 20))
	for _, dir := range []string{"", openDir(t)} {
		c := startChild(t, a, dir, "HOME=/nonexistent", "XDG_CACHE_HOME=", "TMPDIR="+temp)
		if dir != "" && c.Base != filepath.Join(dir, "postgres") {
			t.Errorf("the data went to %s", c.Base)
		}
		if path := c.Scratch + "/.s.PGSQL." + port + ".lock"; len(path) > 103 {
			t.Errorf("the path of the socket is too long: %s", path)
		}
		c.kill()
		mustVanish(t, c.Scratch)
	}
}

// Variables that mean something to PostgreSQL are for the clients of another
// server.
func TestAccount_Environment(t *testing.T) {
	t.Parallel()
	c := startChild(t, account{}, "", "PGPORT=", "PGDATA=/nowhere", "PGUSER=somebody", "PGOPTIONS=-x", "LC_ALL=xx_YY", "TZ=Asia/Tokyo", "A_SECRET=1")
	conn := connect(t, c.URL)
	if got := query(t, conn, "SHOW timezone"); got != "UTC" {
		t.Errorf("got time zone %s", got)
	}
	backend := query(t, conn, "SELECT pg_backend_pid()")
	environment, err := os.ReadFile(filepath.Join("/proc", backend, "environ"))
	if err == nil && strings.Contains(string(environment), "A_SECRET") {
		t.Errorf("got %q", environment)
	}
}

// Root's own directories are closed to the user that postgres then runs as.
func TestAccount_DataDirOutOfReach(t *testing.T) {
	t.Parallel()
	closed := t.TempDir()
	if err := os.Chmod(closed, 0o700); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(closed, "data")
	s := serve(t, Options{DataDir: dir})
	if strings.HasPrefix(s.base, dir) == (os.Geteuid() == 0) {
		t.Errorf("the data is in %s", s.base)
	}
	t.Cleanup(func() { _ = os.RemoveAll(s.base) })
	query(t, connect(t, s.URL("postgres")), "CREATE TABLE kept (n int)")
	stop(t, s)
	again := serve(t, Options{DataDir: dir})
	if got := query(t, connect(t, again.URL("postgres")), "SELECT count(*) FROM kept"); got != "0" {
		t.Errorf("got %s from %s", got, again.base)
	}
	stop(t, again)
}
