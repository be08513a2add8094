package conformance

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// probe is one look of the platform at the health URL (contract, section 3).
func (w *walk) probe(ctx context.Context) (answer, error) {
	b := browser{w: w}
	a, err := b.get(ctx, w.at(w.healthPath))
	return a, inTime(a, err)
}

// staysHealthy is what must hold after every mishap.
func (w *walk) staysHealthy(ctx context.Context) error {
	if _, err := w.probe(ctx); err != nil {
		return fmt.Errorf("afterwards the health URL: %w", err)
	}
	return nil
}

// probes looks several times while something else goes on, and returns the
// longest that an answer took.
func (w *walk) probes(ctx context.Context, n int) (slowest time.Duration, err error) {
	for i := range n {
		a, err := w.probe(ctx)
		if err != nil {
			return 0, fmt.Errorf("probe %d of %d: %w", i+1, n, err)
		}
		slowest = max(slowest, a.took)
	}
	return slowest, nil
}

func checkHealth(ctx context.Context, w *walk) (string, error) {
	a, err := w.probe(ctx)
	return a.String(), err
}

// checkHealthWhileHanging lets four sign-ins wait for the platform.
func checkHealthWhileHanging(ctx context.Context, w *walk) (string, error) {
	m, err := w.member(ctx, "first")
	if err != nil {
		return "", err
	}
	before, release := w.front.count(), w.front.hold()
	var waiting sync.WaitGroup
	defer waiting.Wait()
	defer release()
	for range 4 {
		waiting.Go(func() { _, _ = w.arrive(ctx, w.stranger(), m.user) })
	}
	if w.front.await(ctx, before+4) == before {
		return "", errors.New("no sign-in came as far as user-info")
	}
	slowest, err := w.probes(ctx, 5)
	return fmt.Sprintf("5 probes, the slowest in %d ms", slowest.Milliseconds()), err
}

// await waits up to two seconds for so many calls, and returns how many came: a
// product that works off one sign-in after the other is looked at during the
// first.
func (f *front) await(ctx context.Context, calls int) int {
	for deadline := time.Now().Add(2 * time.Second); f.count() < calls; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) || ctx.Err() != nil {
			break
		}
	}
	return f.count()
}

// checkHealthWhileBusy sends webhooks and page visits as fast as they are
// answered; what those answer is for other rules.
func checkHealthWhileBusy(ctx context.Context, w *walk) (string, error) {
	user := w.newTenant()
	busy, stop := context.WithCancel(ctx)
	var load sync.WaitGroup
	for range 4 {
		load.Go(func() {
			for range 5 {
				_, _ = w.deliver(busy, w.event(created, user.Tenant))
				_, _ = w.stranger().get(busy, w.at(w.sessionPath))
			}
		})
	}
	slowest, err := w.probes(ctx, 10)
	stop()
	load.Wait()
	return fmt.Sprintf("10 probes, the slowest in %d ms", slowest.Milliseconds()), err
}
