package conformance

import (
	"context"
	"fmt"
	"html"
	"regexp"
	"strings"
	"time"

	"example.com/subproduct/handlers/dev/simulator"
)

// signedIn says whether the session path shows the user.
func (w *walk) signedIn(ctx context.Context, b *browser, u simulator.User) (bool, answer, error) {
	a, err := b.get(ctx, w.at(w.sessionPath))
	text := html.UnescapeString(string(a.body))
	return a.ok() && (strings.Contains(text, u.ID) || strings.Contains(text, u.Email)), a, err
}

// settled is signedIn for a browser that has just arrived: it goes where a page
// that waits for the tenant moves on to.
func (w *walk) settled(ctx context.Context, b *browser, u simulator.User, page answer) error {
	for deadline := time.Now().Add(waitLimit); ; {
		in, a, err := w.signedIn(ctx, b, u)
		if in || err != nil {
			return err
		}
		next := refresh(page)
		if next == "" || time.Now().After(deadline) {
			return fmt.Errorf("callback: %s; then %s: %d without the user's e-mail address or id", page, w.sessionPath, a.status)
		}
		time.Sleep(200 * time.Millisecond)
		if page, _, err = b.follow(ctx, next); err != nil {
			return err
		}
	}
}

var metaRefresh = regexp.MustCompile(`(?i)http-equiv="?refresh"?[^>]*content="[^"]*url=([^"]+)"`)

// refresh is where a page moves on to by itself; empty: it stays.
func refresh(page answer) string {
	to := ""
	if _, after, found := strings.Cut(page.header.Get("Refresh"), "url="); found {
		to = after
	} else if m := metaRefresh.FindSubmatch(page.body); m != nil {
		to = html.UnescapeString(string(m[1]))
	}
	next, err := page.from.Parse(to)
	if to == "" || err != nil || next.Host != page.from.Host {
		return ""
	}
	return next.String()
}

// anybody says whether the browser has a session, whoever's it may be.
func (w *walk) anybody(ctx context.Context, b *browser) (bool, error) {
	a, err := b.get(ctx, w.at(w.sessionPath))
	return a.ok() && (!w.shell || strings.Contains(string(a.body), w.run)), err
}

// stays wants the member's session to be there still.
func (w *walk) stays(ctx context.Context, m *member) error {
	in, a, err := w.signedIn(ctx, m.browser, m.user)
	if err != nil {
		return err
	}
	if !in {
		return fmt.Errorf("the tenant's session is gone (%s: %d)", w.sessionPath, a.status)
	}
	return nil
}
