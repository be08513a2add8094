package simulator

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// The endpoints of the contract's section 4.3. It names their paths and shows
// nothing of their shapes: everything here is the simulator's own.

var errDenied = errors.New("this takes the product's X-Api-Key or a user's Authorization: Bearer")

// caller is who uses the platform's API: the product, or one of its users.
type caller struct {
	product bool
	user    User
}

// maySee says whether the caller may see and change what belongs to a tenant.
func (c caller) maySee(tenant string) bool { return c.product || c.user.Tenant == tenant }

func (p *Platform) caller(r *http.Request) (caller, error) {
	if p.hasAPIKey(r) {
		return caller{product: true}, nil
	}
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	defer p.lock()()
	if user := p.holder(p.sessions, token); ok && user != nil {
		return caller{user: *user}, nil
	}
	return caller{}, errDenied
}

// authorized is an endpoint that takes the product's key or a user's token.
func authorized[In, Out any](p *Platform, do func(*http.Request, caller, In) (Out, error)) http.HandlerFunc {
	return endpoint(p, func(r *http.Request, in In) (out Out, err error) {
		who, err := p.caller(r)
		if err == nil {
			out, err = do(r, who, in)
		}
		return out, err
	})
}

// loginInput is what the endpoints of /auth/sms and /users/me/mfa take.
type loginInput struct {
	Phone    string `json:"phone"`
	Code     string `json:"code"`
	MFAToken string `json:"mfaToken"`
	MFACode  string `json:"mfaCode"`
}

// smsSend is POST /auth/sms/send. There is no phone, so the answer has the code.
func (p *Platform) smsSend(_ *http.Request, in loginInput) (any, error) {
	code, err := p.sendText(in.Phone)
	return map[string]any{"sent": true, "expiresIn": int(textLifetime.Seconds()), "simulatorCode": code}, err
}

// smsLogin is POST /auth/sms/login: phone and code, then, when the answer has
// an mfaToken, that token and a code of the second factor.
func (p *Platform) smsLogin(_ *http.Request, in loginInput) (LoginResponse, error) {
	if in.MFAToken != "" {
		return p.checkSecondFactor(in.MFAToken, in.MFACode)
	}
	return p.checkText(in.Phone, in.Code)
}

// mfaAnswer is the state of a user's second factor.
type mfaAnswer struct {
	Enabled bool   `json:"enabled"`
	Secret  string `json:"secret,omitempty"`
	URL     string `json:"otpauthUrl,omitempty"`
	Code    string `json:"simulatorCode,omitempty"` // what an authenticator app would show
}

// mfaSetup is POST /users/me/mfa/setup: a secret that no sign-in asks for yet.
func mfaSetup(u *User, _ string) error {
	if u.MFA {
		return fmt.Errorf("%w: the second factor is on already", ErrInvalid)
	}
	u.MFASecret = newSecret()
	return nil
}

// mfaEnable is POST /users/me/mfa/enable, with a code of that secret.
func mfaEnable(u *User, code string) error {
	if !totpMatches(u.MFASecret, code, time.Now()) {
		return fmt.Errorf("%w: not the current code", ErrInvalid)
	}
	u.MFA = true
	return nil
}

// mfaDisable is POST /users/me/mfa/disable, with a code of it too.
func mfaDisable(u *User, code string) error {
	if !u.MFA || !totpMatches(u.MFASecret, code, time.Now()) {
		return fmt.Errorf("%w: not the current code", ErrInvalid)
	}
	u.MFA, u.MFASecret = false, ""
	return nil
}

// changeMFA is an endpoint that changes the caller's second factor.
func (p *Platform) changeMFA(change func(u *User, code string) error) http.HandlerFunc {
	return authorized(p, func(_ *http.Request, who caller, in loginInput) (answer mfaAnswer, err error) {
		defer p.change()()
		user, err := find(p.state.Users, who.user.ID)
		if err != nil { // the product, or a user that is gone
			return answer, errDenied
		}
		if err := change(user, in.Code); err != nil {
			return answer, err
		}
		if answer.Enabled = user.MFA; user.MFASecret != "" && !user.MFA {
			answer.Secret, answer.Code = user.MFASecret, totp(user.MFASecret, time.Now())
			answer.URL = "otpauth://totp/simulator:" + user.Email + "?issuer=simulator&secret=" + user.MFASecret
		}
		return answer, nil
	})
}

// changeByID is POST /subscriptions/{id}/pause or /resume.
func (p *Platform) changeByID(change changeFunc) http.HandlerFunc {
	return authorized(p, func(r *http.Request, who caller, _ nothing) (Subscription, error) {
		id := r.PathValue("id")
		for _, t := range p.Tenants() {
			if t.Subscription.ID != id || !who.maySee(t.Slug) {
				continue
			}
			if _, err := change(r.Context(), t.Slug); err != nil {
				return Subscription{}, err
			}
			t, err := lookup(p, &p.state.Tenants, t.Slug)
			return t.Subscription, err
		}
		return Subscription{}, fmt.Errorf("subscription %q: %w", id, ErrUnknown)
	})
}
