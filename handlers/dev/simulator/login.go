package simulator

import (
	"net/http"
	"net/url"
	"strings"
	"time"
)

// loginView is a step of the sign-in page.
type loginView struct {
	Query   string // the SSO request, carried from step to step
	Problem string // what was wrong with the last try

	Phone, SentCode    string // second step by phone: the "text message"
	MFAToken, TOTPCode string // last step with a second factor
	User               User
}

// login is /auth/sso (contract, SSO rules 1 to 3). GET goes straight back with a
// code when this browser is signed in here, else it shows the sign-in page; POST
// is a step of that page.
func (p *Platform) login(w http.ResponseWriter, r *http.Request) {
	target, err := p.parseSSO(r.URL.Query())
	if err != nil {
		p.fail(w, r, http.StatusBadRequest, "This sign-in request is not valid", err)
		return
	}
	if r.Method == http.MethodPost {
		p.loginStep(w, r, target)
	} else if user := p.signedIn(r); user != nil {
		p.sendBack(w, r, target, user.ID)
	} else {
		p.loginPage(w, r, http.StatusOK, loginView{})
	}
}

// loginStep takes a step's form: a user (the choice stands for a password), a
// phone number, the code of its text message, or a code of the second factor.
func (p *Platform) loginStep(w http.ResponseWriter, r *http.Request, target *url.URL) {
	var login LoginResponse
	var err error
	view := loginView{Phone: strings.TrimSpace(r.PostFormValue("phone")), MFAToken: r.PostFormValue("mfaToken")}
	switch code := r.PostFormValue("code"); {
	case view.MFAToken != "":
		login, err = p.checkSecondFactor(view.MFAToken, code)
	case code != "":
		login, err = p.checkText(view.Phone, code)
	case view.Phone != "":
		_, err = p.sendText(view.Phone)
	default:
		login, err = p.checkChoice(r.PostFormValue("user"))
	}
	switch {
	case err != nil:
		view.Problem = problem(err)
		p.loginPage(w, r, http.StatusUnprocessableEntity, view)
	case login.User != nil:
		p.setCookie(w, login.AccessToken, login.ExpiresIn)
		p.sendBack(w, r, target, login.User.ID)
	default:
		view.MFAToken = login.MFAToken
		p.loginPage(w, r, http.StatusOK, view)
	}
}

// loginPage shows the step that the view is at.
func (p *Platform) loginPage(w http.ResponseWriter, r *http.Request, status int, view loginView) {
	view.Query = r.URL.RawQuery
	unlock := p.lock()
	if user := p.holder(p.pending, view.MFAToken); user != nil {
		view.User, view.TOTPCode = *user, totp(user.MFASecret, time.Now())
	} else {
		view.MFAToken = "" // it is no longer good: from the start
	}
	if text := p.texts[view.Phone]; text != nil {
		view.SentCode = text.code
	} else {
		view.Phone = ""
	}
	unlock()
	p.render(w, r, status, "login", "Sign in", view)
}
