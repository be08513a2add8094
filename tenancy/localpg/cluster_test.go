package localpg

import (
	"os"
	"path/filepath"
	"testing"
)

func TestHalfMadeClusterIsMadeAgain(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	for _, leftover := range []string{"half-made/base", "pg13", "pg15", "pg16", "pg17", "pg18"} {
		if err := os.MkdirAll(filepath.Join(dir, leftover), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, leftover, "PG_VERSION"), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := serve(t, Options{DataDir: dir})
	aside, err := filepath.Glob(filepath.Join(dir, "broken-*", filepath.Base(s.cluster()), "PG_VERSION"))
	if err != nil || len(aside) != 1 {
		t.Errorf("what was there is set aside: got %q %v", aside, err)
	}
	if exists(filepath.Join(dir, "half-made")) {
		t.Error("half a cluster is left")
	}
}

// Killed at any moment of initdb, a program leaves nothing that keeps the next one from its work.
func TestKilledDuringInitdb(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	for _, moment := range []string{"half-made", "half-made/base", "half-made/global/pg_control", "half-made/base/4"} {
		c := beginChild(t, self(), part{DataDir: dir})
		eventually(t, moment+" is there", func() bool { return exists(filepath.Join(dir, moment)) })
		_ = c.kill()
		if clusters, _ := filepath.Glob(filepath.Join(dir, "pg*")); clusters != nil {
			t.Errorf("%s: there is a cluster %q already", moment, clusters)
		}
	}
	s := serve(t, Options{DataDir: dir})
	if got := ask(t, s.URL("postgres"), "SELECT 1"); got != "1" {
		t.Errorf("got %s", got)
	}
	eventually(t, "nothing runs but the server", func() bool { return len(processes(filepath.Join(dir, "half-made"))) == 0 })
}
