package conformance

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"example.com/subproduct/handlers/dev/simulator"
)

// member is a user with the browser that holds the session.
type member struct {
	user    simulator.User
	browser *browser
	event   []byte // subscription.created, as it was delivered
}

// arrival is a return from the platform.
type arrival struct {
	code, address string
	page          answer
}

// arrive brings a user back from the platform, after the visit of the login
// page that the contract begins with (SSO rules 1 to 3). What is wrong with
// that page is another rule's to say.
func (w *walk) arrive(ctx context.Context, b *browser, u simulator.User) (arrival, error) {
	back := w.at(w.callbackPath)
	if w.noLogin.Load() {
		return w.arriveAt(ctx, b, u, back)
	}
	_, elsewhere, err := b.follow(ctx, w.at(w.loginPath))
	w.noLogin.Store(timedOut(err))
	if err == nil && elsewhere != nil {
		if redirect := elsewhere.Query().Get("redirect"); strings.HasPrefix(redirect, w.target.String()+"/") {
			back = redirect
		}
	}
	return w.arriveAt(ctx, b, u, back)
}

// arriveUnasked brings a user that the platform sends by itself (SSO rule 6).
func (w *walk) arriveUnasked(ctx context.Context, b *browser, u simulator.User) (arrival, error) {
	return w.arriveAt(ctx, b, u, w.at(w.callbackPath))
}

func (w *walk) arriveAt(ctx context.Context, b *browser, u simulator.User, back string) (arrival, error) {
	code, err := w.platform.IssueCode(u.ID)
	if err != nil {
		return arrival{}, err
	}
	joint := "?"
	if strings.Contains(back, "?") {
		joint = "&"
	}
	a := arrival{code: code, address: back + joint + "code=" + url.QueryEscape(code)}
	w.visits(code)
	a.page, _, err = b.follow(ctx, a.address)
	return a, err
}

// join subscribes a new tenant and signs its user in.
func (w *walk) join(ctx context.Context) (*member, error) {
	m := &member{user: w.newTenant(), browser: w.stranger()}
	m.event = w.event(created, m.user.Tenant)
	if _, err := w.accept(ctx, m.event); err != nil {
		return nil, fmt.Errorf("subscription.created: %w", err)
	}
	return m, w.signIn(ctx, m)
}

func (w *walk) signIn(ctx context.Context, m *member) error {
	a, err := w.arrive(ctx, m.browser, m.user)
	if err != nil {
		return err
	}
	return w.settled(ctx, m.browser, m.user, a.page)
}

// member is the signed-in user of that name, the same for all rules; a new one
// when a rule has lost it.
func (w *walk) member(ctx context.Context, name string) (*member, error) {
	if m := w.members[name]; m != nil {
		if in, _, err := w.signedIn(ctx, m.browser, m.user); in && err == nil {
			return m, nil
		}
	}
	m, err := w.join(ctx)
	if err != nil {
		return nil, fmt.Errorf("no session to judge it by: %w", err)
	}
	w.members[name] = m
	return m, nil
}
