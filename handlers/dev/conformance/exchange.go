package conformance

import (
	"context"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"slices"
	"strings"

	"example.com/subproduct/handlers/dev/simulator"
)

func checkExchangeCall(ctx context.Context, w *walk) (string, error) {
	before := w.front.count()
	a, err := w.arrive(ctx, w.stranger(), w.anyUser())
	calls := w.front.since(before)
	if len(calls) == 0 && err != nil {
		return "", fmt.Errorf("no call came to %s: %w", w.platformURL, err)
	}
	if len(calls) == 0 {
		return "", fmt.Errorf("no call came to %s; the callback answered %s", w.platformURL, a.page)
	}
	first := max(0, slices.IndexFunc(calls, func(c call) bool { return strings.HasSuffix(c.path, "/user-info") }))
	return "POST with X-Api-Key and the code", calls[first].wrong(a.code)
}

// wrong says how a call differs from the contract's (section 4.1).
func (c call) wrong(code string) error {
	kind, _, _ := mime.ParseMediaType(c.contentType)
	switch {
	case c.path != exchangePath || c.method != http.MethodPost:
		return fmt.Errorf("%s %s, not POST %s", c.method, c.path, exchangePath)
	case c.key != "right":
		return fmt.Errorf("X-Api-Key is %s", c.key)
	case kind != "application/json":
		return fmt.Errorf("Content-Type is %q", c.contentType)
	case c.fields == nil:
		return errors.New("the body is no JSON object")
	case !slices.Equal(c.fields, []string{"code"}):
		return fmt.Errorf("the body's fields are %q, not code alone", c.fields)
	case c.code != code:
		return errors.New("code is not the string that the callback address had")
	}
	return nil
}

// anyUser is a user whom the product may or may not know.
func (w *walk) anyUser() simulator.User {
	if m := w.members["first"]; m != nil {
		return m.user
	}
	return w.newTenant()
}

// visits notes that a browser was sent to the callback address with a code.
func (w *walk) visits(code string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.visited[code]++
}

// checkExchangeOnce looks back on every code of the run, also those that
// user-info answered with an error, garbage or not at all.
func checkExchangeOnce(_ context.Context, w *walk) (string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	sent := map[string]int{}
	for _, c := range w.front.since(0) {
		sent[c.code]++
	}
	again := 0
	for code, visits := range w.visited {
		again += max(0, sent[code]-visits)
	}
	if again > 0 {
		return "", fmt.Errorf("of %d codes %d were sent once too often or more", len(w.visited), again)
	}
	return fmt.Sprintf("%d codes, none sent again", len(w.visited)), nil
}
