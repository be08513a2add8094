// Package send posts an event as the platform would, for an operator who wants
// to know whether an endpoint works.
package send

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"time"

	"example.com/subproduct/handlers/platform"
	"example.com/subproduct/tenancy/commands/flags"
)

// limit is how long the platform waits for an answer (contract, section 8).
const limit = 5 * time.Second

// ErrNotAcknowledged says that the platform would deliver the event again.
var ErrNotAcknowledged = errors.New("not acknowledged")

// Run is the command `send-event TYPE SLUG --to URL [--data JSON | --body FILE]`:
// it signs one event, which no other equals, or the exact bytes of a file, posts
// it and prints the answer. Like the
// platform it takes any 2xx within 5 seconds for an acknowledgement, else it
// returns ErrNotAcknowledged, and tries once.
func Run(ctx context.Context, secret string, args []string, stdout io.Writer) error {
	c, err := parse(args, stdout)
	if err != nil {
		return err
	}
	body, err := c.body()
	if err != nil {
		return err
	}
	return post(ctx, secret, c.to, body, stdout)
}

const usage = "send-event TYPE SLUG --to URL [--data JSON | --body FILE]"

type call struct{ eventType, slug, to, data, file string }

func parse(args []string, stdout io.Writer) (call, error) {
	var c call
	set := flags.New("send-event", usage)
	set.StringVar(&c.to, "to", "", "where to post the event: http://127.0.0.1:8080/webhooks/platform")
	set.StringVar(&c.data, "data", "", "JSON that becomes the event's \"data\"")
	set.StringVar(&c.file, "body", "", "file whose bytes are sent as they are; - for standard input")
	words, err := flags.Parse(set, args, stdout)
	if err != nil {
		return c, err
	}
	to, err := url.Parse(c.to)
	switch {
	case len(words) != 2 || words[0] == "" || c.file != "" && c.data != "":
		return c, flags.Refuse(usage)
	case err != nil || to.Host == "" || to.Scheme != "http" && to.Scheme != "https":
		return c, flags.Refuse("--to must be an http or https address, not %q", c.to)
	case c.data != "" && !json.Valid([]byte(c.data)):
		return c, flags.Refuse("--data is no JSON: %s", c.data)
	}
	c.eventType, c.slug = words[0], words[1]
	return c, nil
}

// body is the file's bytes, or has the contract's eventType; its other fields
// are a guess of ours.
func (c call) body() ([]byte, error) {
	switch c.file {
	case "":
	case "-":
		return io.ReadAll(os.Stdin)
	default:
		return os.ReadFile(c.file)
	}
	return json.Marshal(struct {
		EventType  string          `json:"eventType"`
		EventID    string          `json:"eventId"`
		OccurredAt time.Time       `json:"occurredAt"`
		TenantSlug string          `json:"tenantSlug"`
		Data       json.RawMessage `json:"data,omitempty"`
	}{c.eventType, "evt_" + rand.Text(), time.Now().UTC(), c.slug, json.RawMessage(c.data)})
}

// maxAnswer is as much of an answer as is worth reading.
const maxAnswer = 4 << 10

func post(ctx context.Context, secret, to string, body []byte, stdout io.Writer) error {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("no answer within %s", limit))
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set(platform.SignatureHeader, platform.Sign(secret, body))
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	began := time.Now()
	response, err := client.Do(request)
	var answer []byte
	if err == nil {
		defer response.Body.Close()
		answer, err = io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNotAcknowledged, errors.Join(context.Cause(ctx), err))
	}
	// Quoted: an answer may hold what a terminal would obey.
	fmt.Fprintf(stdout, "%s in %d ms: %s\nsent %s\n", response.Status, time.Since(began).Milliseconds(), strconv.Quote(string(answer)), body)
	if response.StatusCode == http.StatusUnauthorized {
		return fmt.Errorf("%w: %s: the secret is another than this WEBHOOK_SECRET. One of `dev` is made up at each start: there, send the event "+
			"on the platform's console, under Deliveries, Send any event", ErrNotAcknowledged, response.Status)
	}
	if response.StatusCode/100 != 2 {
		return fmt.Errorf("%w: %s", ErrNotAcknowledged, response.Status)
	}
	return nil
}
