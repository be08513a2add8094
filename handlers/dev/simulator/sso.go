package simulator

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// ssoRequest is what a product asks for at /auth/sso (contract, section 4.1).
type ssoRequest struct {
	appSlug, redirect string
	target            *url.URL
}

// parseSSO reads and checks the two parameters. That the redirect must have
// the origin of the product's callback address is the simulator's assumption:
// without some rule of the kind a code could be sent anywhere.
func (p *Platform) parseSSO(query url.Values) (ssoRequest, error) {
	in := ssoRequest{appSlug: query.Get("appSlug"), redirect: query.Get("redirect")}
	product := p.Product()
	switch {
	case in.appSlug == "":
		return in, errors.New("the query parameter appSlug is missing")
	case in.appSlug != product.Slug:
		return in, fmt.Errorf("appSlug is %q, but the product registered here is %q", in.appSlug, product.Slug)
	case in.redirect == "":
		return in, errors.New("the query parameter redirect is missing")
	}
	target, err := url.Parse(in.redirect)
	if err != nil || origin(target) == "" || target.User != nil {
		return in, fmt.Errorf("redirect is %q, which is no absolute http or https address", in.redirect)
	}
	if target.Query().Has("code") {
		return in, errors.New("redirect has a query parameter code already")
	}
	callback, err := url.Parse(product.CallbackURL)
	if !p.options.AllowAnyRedirect && (err != nil || origin(target) != origin(callback)) {
		return in, fmt.Errorf("redirect is %q, which is not at the product's callback address %q", in.redirect, product.CallbackURL)
	}
	in.target = target
	return in, nil
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
func (p *Platform) sendBack(w http.ResponseWriter, r *http.Request, in ssoRequest, userID string) {
	code, err := p.IssueCode(userID)
	if err != nil {
		p.fail(w, r, http.StatusBadRequest, "This user is gone", err)
		return
	}
	w.Header().Set("Referrer-Policy", "no-referrer")
	http.Redirect(w, r, withCode(in.target, code), http.StatusSeeOther)
}
