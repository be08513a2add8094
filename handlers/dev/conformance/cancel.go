package conformance

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// cancellation is the tenant that this run has cancelled, for the rules about
// what comes after.
type cancellation struct {
	gone, other *member
}

// cancel signs in users of two tenants and cancels one, once in a run.
func (w *walk) cancel(ctx context.Context) (*cancellation, error) {
	if w.cancelled != nil {
		return w.cancelled, nil
	}
	other, err := w.member(ctx, "second")
	if err != nil {
		return nil, err
	}
	gone, err := w.join(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := w.accept(ctx, w.event(cancelled, gone.user.Tenant)); err != nil {
		return nil, fmt.Errorf("tenant.cancelled: %w", err)
	}
	w.cancelled = &cancellation{gone, other}
	return w.cancelled, nil
}

func checkCancelEnds(ctx context.Context, w *walk) (string, error) {
	c, err := w.cancel(ctx)
	if err != nil {
		return "", err
	}
	return w.isOver(ctx, c.gone)
}

// isOver wants the session path to show the member no more.
func (w *walk) isOver(ctx context.Context, m *member) (string, error) {
	a, err := m.browser.get(ctx, w.at(w.sessionPath))
	switch {
	case err != nil:
		return "", err
	case a.ok() && (!w.shell || strings.Contains(string(a.body), m.user.Tenant)):
		return "", errors.New("the session of the cancelled tenant goes on")
	}
	return fmt.Sprintf("%s: %d", w.sessionPath, a.status), nil
}

func checkCancelSpares(ctx context.Context, w *walk) (string, error) {
	c, err := w.cancel(ctx)
	if err != nil {
		return "", err
	}
	return "the other session goes on", w.stays(ctx, c.other)
}

// checkCancelRedelivery does not judge the answer, which is the rule
// "duplicate": only what the old event does.
func checkCancelRedelivery(ctx context.Context, w *walk) (string, error) {
	c, err := w.cancel(ctx)
	if err != nil {
		return "", err
	}
	a, err := w.deliver(ctx, c.gone.event)
	if err != nil {
		return "", err
	}
	seen, err := w.isOver(ctx, c.gone)
	return fmt.Sprintf("answered %d; then %s", a.status, seen), err
}
