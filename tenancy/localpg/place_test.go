package localpg

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Root's own directories are closed to the user that postgres then runs as.
func TestDataDirOutOfReach(t *testing.T) {
	t.Parallel()
	closed := t.TempDir()
	if err := os.Chmod(closed, 0o700); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(closed, "data")
	s := serve(t, Options{DataDir: dir})
	home := s.DataDir()
	if (home == dir) == (os.Geteuid() == 0) {
		t.Errorf("the data is in %s", home)
	}
	if home != dir {
		t.Cleanup(func() { _ = os.RemoveAll(home) })
	}
	execute(t, s.URL("postgres"), "CREATE TABLE kept (n int)")
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	again := serve(t, Options{DataDir: dir})
	if got := ask(t, again.URL("postgres"), "SELECT count(*) FROM kept"); got != "0" || again.DataDir() != home {
		t.Errorf("got %s from %s", got, again.DataDir())
	}
}

func TestTempDirUnfitForSockets(t *testing.T) {
	t.Parallel()
	for _, name := range []string{strings.Repeat("long", 20), "with,comma", "with space"} {
		temp := filepath.Join(dataDir(t), name)
		if err := os.Mkdir(temp, 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(temp, 0o777); err != nil {
			t.Fatal(err)
		}
		c := mustStart(t, self(), part{}, "TMPDIR="+temp)
		if got := ask(t, c.URL, "SELECT 1"); got != "1" {
			t.Errorf("%s: got %s", name, got)
		}
		c.end(t, "stop")
		mustVanish(t, c.SocketDir)
	}
}

func TestEnsureDir(t *testing.T) {
	t.Parallel()
	parent, us := t.TempDir(), os.Geteuid()
	for range 2 {
		if _, err := ensureDir(filepath.Join(parent, "ours"), us, 0o700); err != nil {
			t.Error(err)
		}
	}
	if err := os.Symlink("ours", filepath.Join(parent, "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(parent, "open"), 0o755); err != nil {
		t.Fatal(err)
	}
	for what, uid := range map[string]int{"ours": us + 1, "link": us, "open": us} {
		if dir, err := ensureDir(filepath.Join(parent, what), uid, 0o700); err == nil {
			t.Errorf("%s is trusted for user %d", dir, uid)
		}
	}
}
