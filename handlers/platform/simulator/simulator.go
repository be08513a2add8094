package simulator

import (
	"context"
	"errors"
	"fmt"
	"html/template"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// Limits that the contract fixes (section 8).
const (
	answerLimit    = 5 * time.Second
	maxRetries     = 3
	healthInterval = 5 * time.Minute
)

// Product is the one sub-product under development, as it is registered here.
type Product struct {
	Slug          string `json:"slug"`
	Name          string `json:"name"`
	APIKey        string `json:"apiKey"`
	WebhookSecret string `json:"webhookSecret"`
	WebhookURL    string `json:"webhookUrl"`
	CallbackURL   string `json:"callbackUrl"`
	HealthURL     string `json:"healthUrl"`
}

// Options are what New needs; the zero value of each has a usable meaning.
type Options struct {
	// PublicURL is how browsers reach the simulator; it is also the issuer of
	// its tokens. Empty: taken from each request.
	PublicURL string
	// Product is the registration. A field that the console changed stays
	// changed over restarts, until the field given here is another one.
	Product Product
	// StateFile keeps everything but sessions, codes and faults between runs,
	// as JSON, written atomically with mode 0600. Empty: memory only.
	StateFile string
	// RetryDelays are the waits before retries 1, 2 and 3; nil: 2 s, 10 s and
	// 30 s. The contract allows at most three.
	RetryDelays []time.Duration
	// HealthInterval is the time between probes; 0: 5 minutes, negative: on
	// demand only.
	HealthInterval time.Duration
	// CodeLifetime is how long an unused code is good for; 0: 60 s.
	CodeLifetime time.Duration
	// AllowAnyRedirect lifts the simulator's own rule that a redirect must have
	// the origin of Product.CallbackURL.
	AllowAnyRedirect bool
	// SchemaScript returns the product's own current script, for the check of
	// the "Schema script" field against it. Nil: nothing to check against.
	SchemaScript func() (string, error)
	// Logger hears of deliveries and probes, never of secrets. Nil: silent.
	Logger *slog.Logger
}

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
	sessions  map[string]session
	held      []string      // deliveries kept back by the reorder fault
	revision  int           // counts changes
	changed   chan struct{} // closed and replaced at each change
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
		changed:  make(chan struct{}),
	}
	if err := p.load(); err != nil {
		return nil, fmt.Errorf("simulator: %w", err)
	}
	return p, nil
}

func withDefaults(o Options) (Options, error) {
	o.PublicURL = strings.TrimRight(o.PublicURL, "/")
	if o.PublicURL != "" {
		if u, err := url.Parse(o.PublicURL); err != nil || u.Host == "" {
			return o, errors.New("PublicURL is no address")
		}
	}
	if o.RetryDelays == nil {
		o.RetryDelays = []time.Duration{2 * time.Second, 10 * time.Second, 30 * time.Second}
	}
	if len(o.RetryDelays) > maxRetries {
		return o, fmt.Errorf("%d retry delays, but the contract allows %d retries", len(o.RetryDelays), maxRetries)
	}
	if o.HealthInterval == 0 {
		o.HealthInterval = healthInterval
	}
	if o.CodeLifetime == 0 {
		o.CodeLifetime = time.Minute
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o, nil
}

// Run does what happens by itself: retries, held deliveries, health probes and
// writing the state file. It returns when ctx has ended and all of its
// goroutines have; what was still to be sent is sent by the next Run.
func (p *Platform) Run(ctx context.Context) error {
	var loops sync.WaitGroup
	loops.Go(func() { p.sendDue(ctx) })
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

// Product returns the registration as it is now.
func (p *Platform) Product() Product {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.state.Product
}

// SetProduct replaces the registration.
func (p *Platform) SetProduct(product Product) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.state.Product = product
	p.touch()
}
