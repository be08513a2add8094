package conformance

import (
	"context"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"slices"

	"example.com/subproduct/handlers/platform/simulator"
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
	return "POST with X-Api-Key and the code", calls[0].wrong(a.code)
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

func checkExchangeOnce(ctx context.Context, w *walk) (string, error) {
	defer w.platform.SetFaults(simulator.Faults{})
	for what, fault := range map[string]simulator.Faults{
		"a good answer": {}, "an error": {UserInfoStatus: http.StatusServiceUnavailable}, "an answer that was cut off": {UserInfoBody: simulator.BodyCut},
	} {
		w.platform.SetFaults(fault)
		a, err := w.arrive(ctx, w.stranger(), w.anyUser())
		if err != nil {
			return "", err
		}
		if n := w.front.exchanges(a.code); n != 1 {
			return "", fmt.Errorf("with %s the code was sent %d times", what, n)
		}
	}
	return "3 codes, each sent once", nil
}
