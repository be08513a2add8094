package simulator

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"
)

const (
	keptProbes = 288         // a day of them
	firstProbe = time.Second // after the start, and until it is healthy: both often start together
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
	unlock := p.lock()
	address, delay := p.state.Product.HealthURL, p.faults.HealthDelay
	p.faults.HealthDelay = 0
	unlock()

	probe := Probe{At: time.Now().UTC()}
	if delay > 0 {
		probe.Fault = "delayed by " + delay.String()
	}
	limited, cancel := context.WithTimeoutCause(ctx, p.limit, errTooSlow)
	defer cancel()
	err := sleep(limited, time.Duration(delay))
	if err == nil {
		probe.Status, err = p.ask(limited, address)
	}
	probe.Took = time.Since(probe.At)
	if err == nil && probe.Status/100 != 2 {
		err = fmt.Errorf("status %d", probe.Status)
	}
	if probe.Healthy = err == nil; !probe.Healthy {
		probe.Error = Plain(limited, err).Error()
	}
	if ctx.Err() == nil { // else it was the simulator that stopped
		p.noteProbe(probe)
	}
	return probe
}

// ask returns the status of a GET.
func (p *Platform) ask(ctx context.Context, address string) (int, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil || address == "" {
		return 0, errors.New("the product has no usable health address")
	}
	request.Header.Set("User-Agent", "platform-simulator")
	response, err := p.outbound.Do(request)
	if err != nil {
		return 0, err
	}
	return response.StatusCode, response.Body.Close()
}

func (p *Platform) noteProbe(probe Probe) {
	defer p.change()()
	p.state.Probes = keepLast(p.state.Probes, keptProbes, probe)
	p.options.Logger.Info("health probe", "healthy", probe.Healthy, "answer", probe.Status,
		"took", probe.Took.Round(time.Millisecond), "error", probe.Error)
}

// Probes returns the health history, oldest first.
func (p *Platform) Probes() []Probe { return all(p, &p.state.Probes) }

// probeRegularly probes every 5 minutes (contract, section 8) until ctx ends, and
// after the start each second until the product is healthy.
func (p *Platform) probeRegularly(ctx context.Context) {
	interval := p.options.HealthInterval
	if interval < 0 {
		return
	}
	for wait := min(firstProbe, interval); sleep(ctx, wait) == nil; {
		if p.Product().HealthURL == "" || p.Probe(ctx).Healthy {
			wait = interval
		}
	}
}
