package localpg

import (
	"os"
	"os/user"
	"strconv"
	"strings"
	"testing"
)

// ordinary is a user other than root: nobody, or whoever runs the tests.
func ordinary(t *testing.T) account {
	t.Helper()
	if os.Geteuid() != 0 {
		return self()
	}
	u, err := user.Lookup("nobody")
	if err != nil {
		t.Fatal(err)
	}
	a, err := accountOf(u)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestOrdinaryUser(t *testing.T) {
	t.Parallel()
	a, dir := ordinary(t), dataDir(t)
	if err := a.give(dir); err != nil {
		t.Fatal(err)
	}
	for _, p := range []part{{}, {DataDir: dir}} {
		c := mustStart(t, a, p, "HOME=/nonexistent", "XDG_CACHE_HOME=")
		if got := ownerOfPath(t, c.SocketDir); got != a.uid {
			t.Errorf("%s belongs to user %d", c.SocketDir, got)
		}
		if p.DataDir != "" && c.DataDir != p.DataDir {
			t.Errorf("the data went to %s", c.DataDir)
		}
		c.end(t, "stop")
		mustVanish(t, c.SocketDir)
	}
}

func TestRootLendsRights(t *testing.T) {
	t.Parallel()
	s := serve(t, Options{})
	if got := ownerOfPath(t, s.cluster()); got == 0 || got != s.postgres.account.uid {
		t.Errorf("the cluster belongs to user %d", got)
	}
}

// Variables that mean something to PostgreSQL are for the clients of another server. PGPORT= would be fatal.
func TestEnvironmentIsKeptAway(t *testing.T) {
	t.Parallel()
	c := mustStart(t, self(), part{}, "PGPORT=", "PGDATA=/nowhere", "PGHOST=nowhere.example", "PGUSER=somebody", "LC_ALL=xx_YY", "TZ=Asia/Tokyo", "A_SECRET=1")
	if got := ask(t, c.URL, "SHOW timezone"); got != "UTC" {
		t.Errorf("got time zone %s", got)
	}
	environment, err := os.ReadFile("/proc/" + strconv.Itoa(c.Pid) + "/environ")
	if err == nil && strings.Contains(string(environment), "A_SECRET") {
		t.Errorf("got %q", environment)
	}
	c.end(t, "stop")
}

func TestAccountOfMacOS(t *testing.T) {
	t.Parallel()
	got, err := accountOf(&user.User{Uid: "-2", Gid: "-2"})
	if want := (account{uid: 4294967294, gid: 4294967294, lent: true}); err != nil || got != want {
		t.Errorf("got %+v %v, want %+v", got, err, want)
	}
}

func ownerOfPath(t *testing.T, path string) int {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return ownerOf(info)
}
