// Package simulator is the other side of the contract: a subscription platform
// to develop and test a sub-product against. It signs users in and issues
// one-time codes, answers user-info, sends signed events with the contract's
// limits and retries, probes health, and breaks each of these on request.
//
// What the contract leaves open ("not shown") is chosen here and documented as
// the simulator's own in README.md and on the console's /docs page. A product
// must not depend on those choices.
package simulator

import (
	"context"
	"fmt"
	"html/template"
	"net/http"
	"sync"
	"time"
)

// Platform is a running simulator. Its methods may be called from any goroutine.
type Platform struct {
	options  Options
	pages    *template.Template
	outbound *http.Client
	limit    time.Duration // for one answer of the product

	mu        sync.Mutex // guards everything below
	state     state
	faults    Faults
	codes     map[string]*ticket
	exchanges []Exchange
	sessions  map[string]session      // by cookie or access token
	pending   map[string]session      // by mfaToken: the second factor is still to come
	texts     map[string]*textMessage // by phone number
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
	p := &Platform{options: o, outbound: NewClient(), limit: answerLimit, changed: make(chan struct{})}
	p.pages = p.parsePages()
	p.forget()
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

// lock locks p.mu; call the result to unlock it: defer p.lock()().
func (p *Platform) lock() (unlock func()) {
	p.mu.Lock()
	return p.mu.Unlock
}

// change is lock for whoever changes something that is shown: it announces the
// change as it unlocks.
func (p *Platform) change() (unlock func()) {
	p.mu.Lock()
	return func() {
		p.revision++
		close(p.changed)
		p.changed = make(chan struct{})
		p.mu.Unlock()
	}
}

// nextChange is closed at the next change.
func (p *Platform) nextChange() <-chan struct{} {
	defer p.lock()()
	return p.changed
}

// Reset forgets everything but the registration and the signing keys, and
// turns all faults off.
func (p *Platform) Reset() {
	defer p.change()()
	kept := p.state
	p.state = state{
		Given: kept.Given, Product: kept.Product, SchemaScript: kept.SchemaScript, Keys: kept.Keys,
		Sequence: kept.Sequence, // an identifier is never used twice
	}
	p.forget()
}

// forget empties what no state file keeps; p.mu is held.
func (p *Platform) forget() {
	p.faults, p.exchanges = Faults{}, nil
	p.codes, p.texts = map[string]*ticket{}, map[string]*textMessage{}
	p.sessions, p.pending = map[string]session{}, map[string]session{}
}

// sleep waits for d, or returns the cause of ctx's end.
func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
