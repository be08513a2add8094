package simulator

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"
)

const (
	keptProbes = 288         // a day of them
	firstProbe = time.Second // after the start: product and platform often start together
)

// Probe is one look at the product's health URL (contract, section 3).
type Probe struct {
	At      time.Time     `json:"at"`
	Took    time.Duration `json:"tookNanoseconds"`
	Status  int           `json:"status"` // 0: no answer
	Healthy bool          `json:"healthy"`
	Error   string        `json:"error,omitempty"`
	Fault   string        `json:"fault,omitempty"`
}

// Probe asks the product's health URL now: healthy is a 2xx within 5 seconds,
// without following redirects, whatever the body.
func (p *Platform) Probe(ctx context.Context) Probe {
	p.mu.Lock()
	address, delay := p.state.Product.HealthURL, p.faults.HealthDelay
	p.faults.HealthDelay = 0
	p.mu.Unlock()

	probe := Probe{At: time.Now().UTC()}
	if delay > 0 {
		probe.Fault = "delayed by " + delay.String()
	}
	limited, cancel := context.WithTimeoutCause(ctx, p.limit, errTooSlow)
	defer cancel()
	var err error
	probe.Status, err = p.ask(limited, address, delay)
	probe.Took = time.Since(probe.At)
	switch {
	case err != nil:
		probe.Error = plainError(limited, err)
	case probe.Status < 200 || probe.Status > 299:
		probe.Error = fmt.Sprintf("status %d", probe.Status)
	default:
		probe.Healthy = true
	}
	if ctx.Err() == nil { // else it was the simulator that stopped
		p.noteProbe(probe)
	}
	return probe
}

// ask returns the status of a GET, sent after a delay.
func (p *Platform) ask(ctx context.Context, address string, delay time.Duration) (int, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil || address == "" {
		return 0, fmt.Errorf("the product has no usable health address")
	}
	select {
	case <-time.After(delay):
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
	request.Header.Set("User-Agent", "platform-simulator")
	response, err := p.outbound.Do(request)
	if err != nil {
		return 0, err
	}
	return response.StatusCode, response.Body.Close()
}

func (p *Platform) noteProbe(probe Probe) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.state.Probes = append(p.state.Probes, probe)
	if excess := len(p.state.Probes) - keptProbes; excess > 0 {
		p.state.Probes = slices.Delete(p.state.Probes, 0, excess)
	}
	p.touch()
	p.log.Info("health probe", "healthy", probe.Healthy, "answer", probe.Status,
		"took", probe.Took.Round(time.Millisecond), "error", probe.Error)
}

// Probes returns the health history, oldest first.
func (p *Platform) Probes() []Probe {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.state.Probes)
}

// probeRegularly probes every 5 minutes (contract, section 8) until ctx ends.
func (p *Platform) probeRegularly(ctx context.Context) {
	if p.options.HealthInterval < 0 {
		return
	}
	wait := min(firstProbe, p.options.HealthInterval)
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
		if p.Product().HealthURL != "" {
			p.Probe(ctx)
		}
		wait = p.options.HealthInterval
	}
}

func (p *Platform) apiProbe(r *http.Request, _ nothing) (Probe, error) {
	return p.Probe(context.WithoutCancel(r.Context())), nil
}
