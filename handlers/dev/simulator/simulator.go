package simulator

import (
	"context"
	"fmt"
	"html/template"
	"log/slog"
	"net/http"
	"sync"
	"time"
)

// Platform is a running simulator. Its methods may be called from any goroutine.
type Platform struct {
	options  Options
	log      *slog.Logger
	pages    map[string]*template.Template
	outbound *http.Client
	limit    time.Duration // for one answer of the product

	mu        sync.Mutex // guards everything below
	state     state
	faults    Faults
	codes     map[string]*ticket
	exchanges []Exchange
	sessions  map[string]session      // by cookie or access token
	halfway   map[string]session      // by mfaToken: the second factor is to come
	texts     map[string]*textMessage // by phone number
	held      []string                // deliveries kept back by the reorder fault
	revision  int                     // counts changes
	changed   chan struct{}           // closed and replaced at each change
}

// New returns a simulator with the state of o.StateFile, or an empty one. It
// fails on options that contradict the contract and on an unusable state file.
func New(o Options) (*Platform, error) {
	o, err := withDefaults(o)
	if err != nil {
		return nil, fmt.Errorf("simulator: %w", err)
	}
	pages, err := parsePages()
	if err != nil {
		return nil, fmt.Errorf("simulator: %w", err)
	}
	p := &Platform{
		options:  o,
		log:      o.Logger,
		pages:    pages,
		outbound: outboundClient(),
		limit:    answerLimit,
		codes:    map[string]*ticket{},
		sessions: map[string]session{},
		halfway:  map[string]session{},
		texts:    map[string]*textMessage{},
		changed:  make(chan struct{}),
	}
	if err := p.load(); err != nil {
		return nil, fmt.Errorf("simulator: %w", err)
	}
	return p, nil
}

// Run does what happens by itself: retries, held deliveries, health probes and
// writing the state file. It returns when ctx has ended and all of its
// goroutines have; what was still to be sent is sent by the next Run.
func (p *Platform) Run(ctx context.Context) error {
	var loops sync.WaitGroup
	loops.Go(func() { p.sendDue(ctx) })
	loops.Go(func() { p.probeRegularly(ctx) })
	loops.Go(func() { p.keepState(ctx) })
	loops.Wait()
	return p.save()
}

// touch announces a change of anything that is shown; p.mu is held.
func (p *Platform) touch() {
	p.revision++
	close(p.changed)
	p.changed = make(chan struct{})
}

// Reset forgets everything but the registration and the signing keys, and
// mends every fault.
func (p *Platform) Reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	kept := p.state
	p.state = state{
		Given: kept.Given, Product: kept.Product, SchemaScript: kept.SchemaScript, Keys: kept.Keys,
		Sequence: kept.Sequence, // an identifier never means two things
	}
	p.faults, p.exchanges, p.held = Faults{}, nil, nil
	clear(p.codes)
	clear(p.sessions)
	clear(p.halfway)
	clear(p.texts)
	p.touch()
}
