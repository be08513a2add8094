package simulator

import (
	"fmt"
	"net/http"
)

// loginView is the sign-in page.
type loginView struct {
	Query   string // the SSO request, carried from step to step
	Product Product
	Groups  []loginGroup
}

// loginGroup is one tenant with its users.
type loginGroup struct {
	Tenant Tenant
	Users  []User
}

func (p *Platform) loginPage(w http.ResponseWriter, r *http.Request, status int, view loginView) {
	view.Query, view.Product = r.URL.RawQuery, p.Product()
	users := p.Users()
	for _, t := range p.Tenants() {
		group := loginGroup{Tenant: t}
		for _, u := range users {
			if u.Tenant == t.Slug {
				group.Users = append(group.Users, u)
			}
		}
		view.Groups = append(view.Groups, group)
	}
	p.render(w, r, status, "login", "Sign in", view)
}

// chooseUser is POST /auth/sso: the sign-in page's short way.
func (p *Platform) chooseUser(w http.ResponseWriter, r *http.Request) {
	in, err := p.parseSSO(r.URL.Query())
	if err != nil {
		p.fail(w, http.StatusBadRequest, "This sign-in request is not valid", err)
		return
	}
	id := r.FormValue("user")
	p.mu.Lock()
	known := p.state.user(id) != nil
	p.mu.Unlock()
	if !known {
		p.fail(w, http.StatusBadRequest, "Nobody was chosen", fmt.Errorf("user %q: %w", id, ErrUnknown))
		return
	}
	p.signIn(w, id)
	p.sendBack(w, r, in, id)
}
