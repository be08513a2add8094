package conformance

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"example.com/subproduct/handlers/dev/simulator"
)

func checkUserInfoError(ctx context.Context, w *walk) (string, error) {
	return w.spoilt(ctx, simulator.Faults{UserInfoStatus: http.StatusInternalServerError})
}

func checkUserInfoGarbage(ctx context.Context, w *walk) (string, error) {
	var seen []string
	for _, body := range []string{simulator.BodyGarbage, simulator.BodyNumbers, simulator.BodyCut} {
		s, err := w.spoilt(ctx, simulator.Faults{UserInfoBody: body})
		if err != nil {
			return "", fmt.Errorf("%s: %w", body, err)
		}
		seen = append(seen, s)
	}
	return strings.Join(seen, "; "), nil
}

// spoilt signs a user in while user-info answers wrongly.
func (w *walk) spoilt(ctx context.Context, f simulator.Faults) (string, error) {
	w.platform.SetFaults(f)
	defer w.platform.SetFaults(simulator.Faults{})
	b := w.stranger()
	a, err := w.arrive(ctx, b, w.anyUser())
	if err != nil {
		return "", err
	}
	if err := w.nobody(ctx, b); err != nil {
		return "", err
	}
	return fmt.Sprintf("%d, no session", a.page.status), w.staysHealthy(ctx)
}

// checkUserInfoSlow does not ask for an answer in time: the contract sets no
// limit to a page.
func checkUserInfoSlow(ctx context.Context, w *walk) (string, error) {
	release := w.front.hold()
	defer release()
	b := w.stranger()
	a, err := w.arrive(ctx, b, w.anyUser())
	seen := fmt.Sprintf("the callback answered %s", a.page)
	if timedOut(err) {
		seen, err = "the callback had not answered after "+waitLimit.String(), nil
	}
	if err != nil {
		return "", err
	}
	if err := w.nobody(ctx, b); err != nil {
		return "", err
	}
	return seen + "; no session", w.staysHealthy(ctx)
}

// checkStatus asks nothing about the page: that there is no session counts.
func checkStatus(ctx context.Context, w *walk) (string, error) {
	u := w.newTenant()
	var seen []string
	for _, step := range []struct {
		status string
		change func(context.Context, string) (simulator.Delivery, error)
	}{{simulator.StatusPaused, w.platform.Pause}, {simulator.StatusCancelled, w.platform.Cancel}} {
		if _, err := step.change(ctx, u.Tenant); err != nil {
			return "", err
		}
		b := w.stranger()
		a, err := w.arrive(ctx, b, u)
		if err != nil {
			return "", err
		}
		if err := w.nobody(ctx, b); err != nil {
			return "", fmt.Errorf("%s: %w", step.status, err)
		}
		seen = append(seen, fmt.Sprintf("%s: %d, no session", step.status, a.page.status))
	}
	return strings.Join(seen, "; "), nil
}
