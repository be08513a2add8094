package simulator

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// parseSSO reads and checks the two parameters of /auth/sso (contract, section
// 4.1) and returns the redirect. That it must have the origin of the product's
// callback address is the simulator's assumption: without some rule of the kind
// a code could be sent anywhere.
func (p *Platform) parseSSO(query url.Values) (*url.URL, error) {
	slug, redirect, product := query.Get("appSlug"), query.Get("redirect"), p.Product()
	target, err := url.Parse(redirect)
	callback, _ := url.Parse(product.CallbackURL) // nil has no origin
	switch {
	case slug == "":
		return nil, errors.New("the query parameter appSlug is missing")
	case slug != product.Slug:
		return nil, fmt.Errorf("appSlug is %q, but the product registered here is %q", slug, product.Slug)
	case redirect == "":
		return nil, errors.New("the query parameter redirect is missing")
	case err != nil || origin(target) == "" || target.User != nil:
		return nil, fmt.Errorf("redirect is %q, which is no absolute http or https address", redirect)
	case target.Query().Has("code"):
		return nil, errors.New("redirect has a query parameter code already")
	case origin(target) != origin(callback):
		return nil, fmt.Errorf("redirect is %q, which is not at the product's callback address %q", redirect, product.CallbackURL)
	}
	return target, nil
}

// origin is an http address's scheme and host, empty for any other address.
func origin(u *url.URL) string {
	if u == nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return ""
	}
	return strings.ToLower(u.Scheme + "://" + u.Host)
}

// withCode adds the code to an address and keeps the query that it has, byte
// for byte.
func withCode(target *url.URL, code string) string {
	u := *target
	if u.RawQuery != "" {
		u.RawQuery += "&"
	}
	u.RawQuery += "code=" + url.QueryEscape(code)
	u.ForceQuery = false
	return u.String()
}

// sendBack issues a code and redirects the browser to the product with it.
func (p *Platform) sendBack(w http.ResponseWriter, r *http.Request, target *url.URL, userID string) {
	code, err := p.IssueCode(userID)
	if err != nil {
		p.fail(w, r, http.StatusBadRequest, "This user is gone", err)
		return
	}
	w.Header().Set("Referrer-Policy", "no-referrer")
	http.Redirect(w, r, withCode(target, code), http.StatusSeeOther)
}

// visitAs is POST /_sim/sign-in: the browser is signed in at the platform as a
// user and goes on to the product's callback address, with a code.
func (p *Platform) visitAs(_ *http.Request, in input) (visit, error) {
	target, err := url.Parse(p.Product().CallbackURL)
	if err != nil || origin(target) == "" {
		return visit{}, fmt.Errorf("%w: the product has no usable callback address", ErrInvalid)
	}
	code, err := p.IssueCode(in.User)
	return visit{User: in.User, URL: withCode(target, code)}, err
}

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
	visit
}

// subscribe is POST /_sim/subscribe.
func (p *Platform) subscribe(r *http.Request, in subscribeInput) (out subscribed, err error) {
	if in.Slug != "" && in.Plan != "" {
		var users []User
		if in.Email != "" {
			users = []User{{Email: in.Email}}
		}
		p.AddTenant(in.Slug, in.Name, "", users...)
	}
	if out.Delivery, err = p.Subscribe(r.Context(), in.Slug, in.Plan); err != nil {
		return out, err
	}
	unlock := p.lock()
	out.User = p.state.userOf(in.Slug, in.Email).ID
	unlock()
	if in.SignIn {
		out.visit, err = p.visitAs(r, input{User: out.User})
	}
	return out, err
}
