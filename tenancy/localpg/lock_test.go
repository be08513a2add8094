package localpg

import (
	"errors"
	"path/filepath"
	"testing"
	"time"
)

func TestInUse(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	c := mustStart(t, self(), part{DataDir: dir})
	began := time.Now()
	if _, err := Start(t.Context(), Options{DataDir: filepath.Join(dir, ".")}); !errors.Is(err, ErrInUse) {
		t.Errorf("got %v", err)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("it took %s to say so", took)
	}
	if got := ask(t, c.URL, "SELECT 1"); got != "1" {
		t.Errorf("the first server suffered: got %s", got)
	}
}

func TestInUseByThisProcess(t *testing.T) {
	t.Parallel()
	s := serve(t, Options{DataDir: dataDir(t)})
	if _, err := Start(t.Context(), Options{DataDir: s.DataDir()}); !errors.Is(err, ErrInUse) {
		t.Errorf("got %v", err)
	}
}

// One of many wins, and each that comes after a stop.
func TestStartsAtTheSameTime(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	const starts = 3
	servers := make(chan *Server, starts)
	for range starts {
		go func() {
			s, err := Start(t.Context(), Options{DataDir: dir, Fast: true})
			if err != nil && !errors.Is(err, ErrInUse) {
				t.Error(err)
			}
			servers <- s
		}()
	}
	var started []*Server
	for range starts {
		if s := <-servers; s != nil {
			started = append(started, s)
		}
	}
	for _, s := range started {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	}
	if len(started) != 1 {
		t.Errorf("%d of %d started", len(started), starts)
	}
	serve(t, Options{DataDir: dir})
}
