package simulator

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing/iotest"
	"time"

	"example.com/subproduct/handlers/platform"
)

const keptResponse = 1 << 10

var (
	errTooSlow = errors.New("no answer within the limit")
	errCut     = errors.New("connection cut half-way")
)

// NewClient is a client as the platform's own server is. It opens a connection for
// each request, so that a product's restart never shows as a failed delivery, and
// follows no redirects: only the configured address counts.
func NewClient() *http.Client {
	return &http.Client{
		Transport:     &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// outgoing is what one attempt sends.
type outgoing struct {
	url, signature string
	body           []byte
	fault          string // what is done to it on purpose, in words
	drop, cut      bool
}

func (p *Platform) attempt(ctx context.Context, id string) {
	if out, ok := p.claim(id); ok {
		p.finish(ctx, id, p.post(ctx, out))
	}
}

// claim marks the delivery as under way and returns what to send; not ok when it
// is under way already, or finished.
func (p *Platform) claim(id string) (out outgoing, ok bool) {
	defer p.lock()()
	d, err := find(p.state.Deliveries, id)
	if err != nil || d.busy || d.Status != DeliveryPending {
		return out, false
	}
	d.busy, d.held, d.NextAttempt = true, false, time.Time{}
	out = outgoing{url: p.state.Product.WebhookURL, body: []byte(d.Body)}
	out.signature = platform.Sign(p.state.Product.WebhookSecret, out.body)
	p.faults.apply(&out, len(d.Attempts))
	d.Signature = out.signature
	return out, true
}

// post makes one attempt: an answer's header within 5 seconds, or it failed
// (contract, section 6).
func (p *Platform) post(ctx context.Context, out outgoing) (a Attempt) {
	a = Attempt{At: time.Now().UTC(), Fault: out.fault}
	if out.drop {
		a.Error = "nothing was sent"
		return a
	}
	ctx, cancel := context.WithTimeoutCause(ctx, p.limit, errTooSlow)
	defer cancel()
	response, err := p.outboundPost(ctx, out)
	a.Took = time.Since(a.At)
	if err != nil {
		a.Error = Plain(ctx, err).Error()
		return a
	}
	defer response.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(response.Body, keptResponse)) // the header has decided
	a.Status, a.ResponseBody = response.StatusCode, strings.ToValidUTF8(string(text), "�")
	return a
}

func (p *Platform) outboundPost(ctx context.Context, out outgoing) (*http.Response, error) {
	if out.url == "" {
		return nil, errors.New("the product has no webhook address")
	}
	var body io.Reader = bytes.NewReader(out.body)
	if out.cut {
		body = io.MultiReader(bytes.NewReader(out.body[:len(out.body)/2]), iotest.ErrReader(errCut))
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, out.url, body)
	if err != nil {
		return nil, err
	}
	request.ContentLength = int64(len(out.body))
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "platform-simulator")
	if out.signature != "" {
		request.Header.Set(platform.SignatureHeader, out.signature)
	}
	return p.outbound.Do(request)
}

// Plain is a request's error without the address in it, which the reader knows;
// where the request's time was over, it is what its context gives for the cause.
func Plain(ctx context.Context, err error) error {
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return context.Cause(ctx)
	}
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		return wrapped.Err
	}
	return err
}

// finish records the attempt and decides whether a retry follows.
func (p *Platform) finish(ctx context.Context, id string, a Attempt) {
	defer p.change()()
	d, err := find(p.state.Deliveries, id)
	if err != nil { // forgotten meanwhile
		return
	}
	d.busy = false
	if ctx.Err() != nil && a.Status == 0 { // the simulator is stopping: this one does not count
		d.NextAttempt = time.Now()
		return
	}
	d.Attempts = append(d.Attempts, a)
	switch retries := len(d.Attempts) - 1; {
	case a.Status/100 == 2:
		d.Status = DeliveryDelivered
	case retries < len(p.options.RetryDelays):
		d.NextAttempt = time.Now().Add(p.options.RetryDelays[retries])
	default:
		d.Status = DeliveryFailed
	}
	p.options.Logger.Info("webhook attempt", "delivery", id, "event", d.EventType, "tenant", d.Tenant,
		"attempt", len(d.Attempts), "answer", a.String(), "took", a.Took.Round(time.Millisecond), "delivery_status", d.Status)
}

// String is the attempt's outcome in a word.
func (a Attempt) String() string {
	if a.Status != 0 {
		return fmt.Sprintf("status %d", a.Status)
	}
	return a.Error
}
