package simulator

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// subscribeInput is a new subscription; with SignIn the platform then signs
// a user of the tenant in at the product by itself (contract, SSO rule 6).
type subscribeInput struct {
	Slug   string `json:"slug"`
	Name   string `json:"name"`
	Plan   string `json:"plan"`
	Email  string `json:"email"`
	SignIn bool   `json:"signIn"`
}

// subscribed is a new subscription's event and, with SignIn, where the browser
// is to go.
type subscribed struct {
	Delivery Delivery `json:"delivery"`
	User     string   `json:"user"`
	URL      string   `json:"url,omitempty"`
}

// apiSubscribe is POST /_sim/subscribe. A browser that asked for the automatic
// sign-in lands at the product's callback address, without the product's own
// /login before it.
func (p *Platform) apiSubscribe(w http.ResponseWriter, r *http.Request) {
	var in subscribeInput
	if err := decode(w, r, &in); err != nil {
		p.replyError(w, r, err)
		return
	}
	out, err := p.subscribe(r, in)
	switch {
	case err != nil:
		p.replyError(w, r, err)
	case in.SignIn && wantsPage(r):
		p.signIn(w, out.User)
		http.Redirect(w, r, out.URL, http.StatusSeeOther)
	default:
		p.reply(w, r, http.StatusOK, out)
	}
}

func (p *Platform) subscribe(r *http.Request, in subscribeInput) (out subscribed, err error) {
	if in.Slug == "" || in.Plan == "" {
		return out, fmt.Errorf("%w: a subscription needs a slug and a plan", ErrInvalid)
	}
	var users []User
	if in.Email != "" {
		users = []User{{Email: in.Email}}
	}
	p.AddTenant(in.Slug, in.Name, "", users...)
	if out.Delivery, err = p.Subscribe(r.Context(), in.Slug, in.Plan); err != nil {
		return out, err
	}
	out.User = p.subscriber(in.Slug, in.Email)
	if in.SignIn {
		out.URL, err = p.callbackURL(out.User)
	}
	return out, err
}

// subscriber is the tenant's user with this address or, without one, its first.
func (p *Platform) subscriber(slug, email string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, u := range p.state.Users {
		if u.Tenant == slug && email != "" && strings.EqualFold(u.Email, email) {
			return u.ID
		}
	}
	return p.state.ensureUser(slug).ID
}

// callbackURL is the product's callback address with a code for the user.
func (p *Platform) callbackURL(userID string) (string, error) {
	target, err := url.Parse(p.Product().CallbackURL)
	if err != nil || origin(target) == "" {
		return "", fmt.Errorf("%w: the product has no usable callback address", ErrInvalid)
	}
	code, err := p.IssueCode(userID)
	if err != nil {
		return "", err
	}
	return withCode(target, code), nil
}

// apiSignIn is POST /_sim/sign-in: signs this browser in at the platform as a
// user, and on to the product.
func (p *Platform) apiSignIn(w http.ResponseWriter, r *http.Request) {
	var in userInput
	if err := decode(w, r, &in); err != nil {
		p.replyError(w, r, err)
		return
	}
	address, err := p.callbackURL(in.User)
	if err != nil {
		p.replyError(w, r, err)
		return
	}
	p.signIn(w, in.User)
	if wantsPage(r) {
		http.Redirect(w, r, address, http.StatusSeeOther)
		return
	}
	writeJSON(w, http.StatusOK, map[string]string{"url": address})
}
