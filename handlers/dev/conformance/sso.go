package conformance

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

func checkSession(ctx context.Context, w *walk) (string, error) {
	m, err := w.join(ctx)
	if err != nil {
		return "", err
	}
	w.members["first"] = m
	return w.sessionPath + " shows the user", nil
}

func checkLoginRedirect(ctx context.Context, w *walk) (string, error) {
	page, to, err := w.stranger().follow(ctx, w.at(w.loginPath))
	switch {
	case err != nil:
		return "", err
	case to == nil:
		return "", fmt.Errorf("%s: %s, and no redirect to the platform", w.loginPath, page)
	}
	return "to /auth/sso with appSlug and redirect", w.loginAddress(to)
}

// loginAddress says what is wrong with the address that begins a sign-in
// (contract, section 2).
func (w *walk) loginAddress(to *url.URL) error {
	query := to.Query()
	redirect, err := url.Parse(query.Get("redirect"))
	at := *to
	at.RawQuery = ""
	switch {
	case at.String() != strings.TrimRight(w.platformURL, "/")+"/auth/sso":
		return fmt.Errorf("leads to %s, not to %s/auth/sso (is --platform-url the target's PLATFORM_URL?)", at.String(), w.platformURL)
	case query.Get("appSlug") != w.appSlug || len(query["appSlug"]) != 1:
		return fmt.Errorf("appSlug is %q, not %q", query["appSlug"], w.appSlug)
	case err != nil || len(query["redirect"]) != 1 || redirect.Query().Has("code"):
		return errors.New("there must be one redirect, an address without a code")
	case len(query) != 2:
		return fmt.Errorf("the parameters are %q, not appSlug and redirect alone", parameters(query))
	}
	redirect.RawQuery = "" // a product may keep something of its own there
	if redirect.String() != w.at(w.callbackPath) {
		return fmt.Errorf("redirect is %s, not %s", redirect, w.at(w.callbackPath))
	}
	return nil
}

func parameters(query url.Values) (names []string) {
	for name := range query {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func checkPlatformStarted(ctx context.Context, w *walk) (string, error) {
	m, err := w.member(ctx, "first")
	if err != nil {
		return "", err
	}
	b := w.stranger()
	a, err := w.arriveUnasked(ctx, b, m.user)
	if err == nil {
		err = w.settled(ctx, b, m.user, a.page)
	}
	return "a session", err
}

func checkBeforeEvent(ctx context.Context, w *walk) (string, error) {
	m := &member{user: w.newTenant(), browser: w.stranger()}
	a, err := w.arriveUnasked(ctx, m.browser, m.user)
	if err == nil {
		err = w.settled(ctx, m.browser, m.user, a.page)
	}
	if err != nil {
		return "", fmt.Errorf("before the event: %w", err)
	}
	if _, err := w.accept(ctx, w.event(created, m.user.Tenant)); err != nil {
		return "", fmt.Errorf("the event: %w", err)
	}
	return "a session, then the event", w.stays(ctx, m)
}
