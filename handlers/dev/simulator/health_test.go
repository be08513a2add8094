package simulator

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestSimulator_ProbesJudgeTheStatus(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		health  func(http.ResponseWriter)
		healthy bool
		says    string
	}{
		"200":      {func(w http.ResponseWriter) { w.Write([]byte("anything")) }, true, ""},
		"204":      {func(w http.ResponseWriter) { w.WriteHeader(http.StatusNoContent) }, true, ""},
		"503":      {func(w http.ResponseWriter) { w.WriteHeader(http.StatusServiceUnavailable) }, false, "503"},
		"redirect": {func(w http.ResponseWriter) { w.Header().Set("Location", "/"); w.WriteHeader(http.StatusFound) }, false, "302"},
	} {
		d := newHarness(t, nil)
		d.product.health = c.health
		if got := d.Probe(t.Context()); got.Healthy != c.healthy || !strings.Contains(got.Error, c.says) {
			t.Errorf("%s: %+v, want healthy=%v, %q", name, got, c.healthy, c.says)
		}
		if len(d.Probes()) != 1 {
			t.Errorf("%s: history %+v, want the one probe", name, d.Probes())
		}
	}
}

func TestSimulator_ProbeHasALimit(t *testing.T) {
	t.Parallel()
	d := newHarness(t, nil)
	d.limit = 50 * time.Millisecond
	hold := make(chan struct{})
	t.Cleanup(func() { close(hold) })
	d.product.health = func(http.ResponseWriter) { <-hold }
	if got := d.Probe(t.Context()); got.Healthy || !strings.Contains(got.Error, "limit") || got.Took < d.limit {
		t.Errorf("probe = %+v, want it unhealthy for its time", got)
	}
}

func TestSimulator_ProductThatIsNotThereIsUnhealthy(t *testing.T) {
	t.Parallel()
	d := newHarness(t, func(o *Options) { o.Product.HealthURL = "http://127.0.0.1:1/healthz" })
	if got := d.Probe(t.Context()); got.Healthy || got.Error == "" || strings.Contains(got.Error, "/healthz") {
		t.Errorf("probe = %+v, want a plain reason", got)
	}
}

func TestSimulator_NextProbeIsSlowOnceOnRequest(t *testing.T) {
	t.Parallel()
	d := newHarness(t, nil)
	d.limit = 100 * time.Millisecond
	d.SetFaults(Faults{HealthDelay: Delay(time.Hour)})
	if got := d.Probe(t.Context()); got.Healthy || got.Fault == "" {
		t.Errorf("probe = %+v, want a timeout by the fault", got)
	}
	d.limit = answerLimit
	if got := d.Probe(t.Context()); !got.Healthy || got.Fault != "" {
		t.Errorf("the probe after it = %+v, want it healthy", got)
	}
}

// A product that is not ready yet is asked again soon, until it is.
func TestSimulator_ProbesEachSecondUntilTheFirstHealthyAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		p, err := New(Options{Product: Product{HealthURL: "http://product.example/healthz"}})
		if err != nil {
			t.Fatal(err)
		}
		answers := []int{503, 503, 200, 503, 200}
		p.outbound = &http.Client{Transport: roundTrip(func(*http.Request) (*http.Response, error) {
			status := answers[len(p.Probes())]
			return &http.Response{StatusCode: status, Body: http.NoBody}, nil
		})}
		began := time.Now()
		go p.probeRegularly(ctx)
		for i, want := range []time.Duration{time.Second, 2 * time.Second, 3 * time.Second, 3*time.Second + healthInterval, 3*time.Second + 2*healthInterval} {
			time.Sleep(want - time.Since(began))
			synctest.Wait()
			if probes := p.Probes(); len(probes) != i+1 {
				t.Errorf("after %s: %d probes, want %d", want, len(probes), i+1)
			}
		}
	})
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestSimulator_ProbesHappenByThemselves(t *testing.T) {
	t.Parallel()
	d := newHarness(t, func(o *Options) { o.HealthInterval = 5 * time.Millisecond })
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for len(d.Probes()) < 3 {
		d.mu.Lock()
		changed := d.changed
		d.mu.Unlock()
		select {
		case <-ctx.Done():
			t.Fatalf("%d probes, want three", len(d.Probes()))
		case <-changed:
		}
	}
}
