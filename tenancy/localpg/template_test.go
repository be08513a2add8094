package localpg

import (
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
)

func TestTemplateRace(t *testing.T) {
	t.Parallel()
	cache := dataDir(t)
	s := serve(t, Options{})
	maker := clusterMaker{installation: s.postgres}
	if err := maker.account.give(cache); err != nil {
		t.Fatal(err)
	}
	var makers sync.WaitGroup
	for range 3 {
		makers.Go(func() {
			if _, err := maker.template(t.Context(), cache); err != nil {
				t.Error(err)
			}
		})
	}
	makers.Wait()
	left, err := os.ReadDir(cache)
	if err != nil || len(left) != 1 {
		t.Errorf("in the cache there are %v %v", left, err)
	}
}

// A machine without any place for a cache gets its server all the same.
func TestWithoutCache(t *testing.T) {
	t.Parallel()
	temp := dataDir(t)
	if err := os.Chmod(temp, 0o777); err != nil {
		t.Fatal(err)
	}
	a, err := newAccount()
	if err != nil {
		t.Fatal(err)
	}
	// Somebody was there first: a file stands where the cache would be.
	for _, name := range []string{"cache", "cache-" + strconv.Itoa(a.uid)} {
		if err := os.WriteFile(filepath.Join(temp, prefix+name), nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	c := mustStart(t, self(), part{}, "TMPDIR="+temp, "XDG_CACHE_HOME="+temp, "HOME="+temp)
	if got := ask(t, c.URL, "SELECT 1"); got != "1" {
		t.Errorf("got %s", got)
	}
	c.end(t, "stop")
	mustVanish(t, c.SocketDir)
}
