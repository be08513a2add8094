package simulator

import (
	"fmt"
	"net/http"
	"strings"
	"time"
)

// loginView is a step of the sign-in page.
type loginView struct {
	Query   string // the SSO request, carried from step to step
	Product Product
	Groups  []loginGroup
	Problem string // what was wrong with the last try

	Phone, SentCode    string // second step by phone: the "text message"
	MFAToken, TOTPCode string // last step with a second factor
	User               User
}

// loginGroup is one tenant with its users.
type loginGroup struct {
	Tenant Tenant
	Users  []User
}

// loginStep parses the SSO request that every step carries along.
func (p *Platform) loginStep(step func(http.ResponseWriter, *http.Request, ssoRequest)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		in, err := p.parseSSO(r.URL.Query())
		if err != nil {
			p.fail(w, r, http.StatusBadRequest, "This sign-in request is not valid", err)
			return
		}
		step(w, r, in)
	}
}

// startLogin is GET /auth/sso: straight back with a code for a browser that is
// signed in here, else the sign-in page (contract, SSO rules 1 to 3).
func (p *Platform) startLogin(w http.ResponseWriter, r *http.Request, in ssoRequest) {
	if user, ok := p.signedIn(r); ok {
		p.sendBack(w, r, in, user.ID)
		return
	}
	p.loginPage(w, r, http.StatusOK, loginView{})
}

// chooseUser is POST /auth/sso: the short way, which stands for a password.
func (p *Platform) chooseUser(w http.ResponseWriter, r *http.Request, in ssoRequest) {
	user, err := p.User(r.PostFormValue("user"))
	if err != nil {
		p.loginPage(w, r, http.StatusUnprocessableEntity, loginView{Problem: "This user is no longer there."})
		return
	}
	p.afterFirstFactor(w, r, in, user)
}

// enterPhone is POST /auth/sso/phone: sends the text message.
func (p *Platform) enterPhone(w http.ResponseWriter, r *http.Request, _ ssoRequest) {
	phone := strings.TrimSpace(r.PostFormValue("phone"))
	if _, err := p.sendText(phone); err != nil {
		p.loginPage(w, r, http.StatusUnprocessableEntity, loginView{Problem: fmt.Sprintf("Nobody has the phone number %q.", phone)})
		return
	}
	p.loginPage(w, r, http.StatusOK, loginView{Phone: phone})
}

// enterText is POST /auth/sso/text: the text message's code.
func (p *Platform) enterText(w http.ResponseWriter, r *http.Request, in ssoRequest) {
	phone := r.PostFormValue("phone")
	user, err := p.checkText(phone, r.PostFormValue("code"))
	if err != nil {
		p.loginPage(w, r, http.StatusUnprocessableEntity, loginView{Phone: phone, Problem: problem(err)})
		return
	}
	p.afterFirstFactor(w, r, in, user)
}

func (p *Platform) afterFirstFactor(w http.ResponseWriter, r *http.Request, in ssoRequest, user User) {
	login := p.firstFactorPassed(user)
	if login.MFARequired {
		p.loginPage(w, r, http.StatusOK, loginView{MFAToken: login.MFAToken})
		return
	}
	p.setCookie(w, login.AccessToken, login.ExpiresIn)
	p.sendBack(w, r, in, user.ID)
}

// enterSecondFactor is POST /auth/sso/second-factor.
func (p *Platform) enterSecondFactor(w http.ResponseWriter, r *http.Request, in ssoRequest) {
	token := r.PostFormValue("mfaToken")
	login, err := p.secondFactorPassed(token, r.PostFormValue("code"))
	if err != nil {
		p.loginPage(w, r, http.StatusUnprocessableEntity, loginView{MFAToken: token, Problem: problem(err)})
		return
	}
	p.setCookie(w, login.AccessToken, login.ExpiresIn)
	p.sendBack(w, r, in, login.User.ID)
}

// loginPage shows the step that the view is at.
func (p *Platform) loginPage(w http.ResponseWriter, r *http.Request, status int, view loginView) {
	view.Query, view.Product = r.URL.RawQuery, p.Product()
	p.mu.Lock()
	if user := p.holder(p.halfway, view.MFAToken); user != nil {
		view.User, view.TOTPCode = *user, totp(user.MFASecret, time.Now())
	} else {
		view.MFAToken = "" // over: from the start
	}
	if text := p.texts[view.Phone]; text != nil {
		view.SentCode = text.code
	}
	p.mu.Unlock()
	view.Groups = p.loginGroups()
	p.render(w, r, status, "login", "Sign in", view)
}

func (p *Platform) loginGroups() []loginGroup {
	users := p.Users()
	var groups []loginGroup
	for _, t := range p.Tenants() {
		group := loginGroup{Tenant: t}
		for _, u := range users {
			if u.Tenant == t.Slug {
				group.Users = append(group.Users, u)
			}
		}
		groups = append(groups, group)
	}
	return groups
}

// problem is an error as a sentence for a page.
func problem(err error) string {
	text := err.Error()
	if _, after, ok := strings.Cut(text, ErrInvalid.Error()+": "); ok {
		text = after
	}
	return strings.ToUpper(text[:1]) + text[1:] + "."
}
