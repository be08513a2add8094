package simulator

import (
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"time"
)

// Limits that the contract fixes (section 8).
const (
	answerLimit    = 5 * time.Second
	maxRetries     = 3
	healthInterval = 5 * time.Minute
)

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
	// SchemaScript returns the product's own current script, for the check of
	// the "Schema script" field against it. Nil: nothing to check against.
	SchemaScript func() (string, error)
	// Logger gets deliveries and probes, never secrets. Nil: silent.
	Logger *slog.Logger
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
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o, nil
}
