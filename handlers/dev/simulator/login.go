package simulator

import (
	"net/http"
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

// startLogin is GET /auth/sso: straight back with a code for a browser that is
// signed in here, else the sign-in page (contract, SSO rules 1 to 3).
func (p *Platform) startLogin(w http.ResponseWriter, r *http.Request) {
	target, err := p.parseSSO(r.URL.Query())
	if err != nil {
		p.fail(w, r, http.StatusBadRequest, "This sign-in request is not valid", err)
		return
	}
	if user := p.signedIn(r); user != nil {
		p.sendBack(w, r, target, user.ID)
		return
	}
	p.loginPage(w, r, http.StatusOK, loginView{})
}

// loginStep takes the form of a step. Without an error the browser is signed
// in, or the next step follows; with one it is at the step that view shows.
func (p *Platform) loginStep(step func(*http.Request) (LoginResponse, loginView, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		target, err := p.parseSSO(r.URL.Query())
		if err != nil {
			p.fail(w, r, http.StatusBadRequest, "This sign-in request is not valid", err)
			return
		}
		login, view, err := step(r)
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
}

// chooseUser is POST /auth/sso.
func (p *Platform) chooseUser(r *http.Request) (LoginResponse, loginView, error) {
	login, err := p.checkChoice(r.PostFormValue("user"))
	return login, loginView{}, err
}

// enterPhone is POST /auth/sso/phone: it sends the text message.
func (p *Platform) enterPhone(r *http.Request) (LoginResponse, loginView, error) {
	phone := strings.TrimSpace(r.PostFormValue("phone"))
	if _, err := p.sendText(phone); err != nil {
		return LoginResponse{}, loginView{}, err
	}
	return LoginResponse{}, loginView{Phone: phone}, nil
}

// enterText is POST /auth/sso/text: the text message's code.
func (p *Platform) enterText(r *http.Request) (LoginResponse, loginView, error) {
	phone := r.PostFormValue("phone")
	login, err := p.checkText(phone, r.PostFormValue("code"))
	return login, loginView{Phone: phone}, err
}

// enterSecondFactor is POST /auth/sso/second-factor.
func (p *Platform) enterSecondFactor(r *http.Request) (LoginResponse, loginView, error) {
	token := r.PostFormValue("mfaToken")
	login, err := p.checkSecondFactor(token, r.PostFormValue("code"))
	return login, loginView{MFAToken: token}, err
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
	}
	unlock()
	p.render(w, r, status, "login", "Sign in", view)
}
