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

// mayTouch says whether what belongs to a tenant is the caller's business.
func (c caller) mayTouch(tenant string) bool { return c.product || c.user.Tenant == tenant }

func (p *Platform) caller(r *http.Request) (caller, error) {
	if p.hasAPIKey(r) {
		return caller{product: true}, nil
	}
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	p.mu.Lock()
	defer p.mu.Unlock()
	if user := p.holder(p.sessions, token); ok && user != nil {
		return caller{user: *user}, nil
	}
	return caller{}, errDenied
}

// smsSend is POST /auth/sms/send. There is no phone, so the answer has the code.
func (p *Platform) smsSend(_ *http.Request, in struct {
	Phone string `json:"phone"`
}) (any, error) {
	code, err := p.sendText(in.Phone)
	if err != nil {
		return nil, err
	}
	return struct {
		Sent      bool   `json:"sent"`
		ExpiresIn int    `json:"expiresIn"`
		Code      string `json:"simulatorCode"`
	}{true, int(textLifetime.Seconds()), code}, nil
}

// smsLogin is POST /auth/sms/login: phone and code, then, when the answer has
// an mfaToken, that token and a code of the second factor.
func (p *Platform) smsLogin(_ *http.Request, in struct {
	Phone    string `json:"phone"`
	Code     string `json:"code"`
	MFAToken string `json:"mfaToken"`
	MFACode  string `json:"mfaCode"`
}) (LoginResponse, error) {
	if in.MFAToken != "" {
		return p.secondFactorPassed(in.MFAToken, in.MFACode)
	}
	user, err := p.checkText(in.Phone, in.Code)
	if err != nil {
		return LoginResponse{}, err
	}
	return p.firstFactorPassed(user), nil
}

type mfaInput struct {
	Code string `json:"code"`
}

// mfaAnswer is the state of a user's second factor.
type mfaAnswer struct {
	Enabled bool   `json:"enabled"`
	Secret  string `json:"secret,omitempty"`
	URL     string `json:"otpauthUrl,omitempty"`
	Code    string `json:"simulatorCode,omitempty"` // what an authenticator app would show
}

// mfaSetup is POST /users/me/mfa/setup: a secret that is not asked for yet.
func (p *Platform) mfaSetup(r *http.Request, _ mfaInput) (mfaAnswer, error) {
	return p.changeMFA(r, func(u *User) error {
		if u.MFA {
			return fmt.Errorf("%w: the second factor is on already", ErrInvalid)
		}
		u.MFASecret = newSecret()
		return nil
	})
}

// mfaEnable is POST /users/me/mfa/enable, with a code of that secret.
func (p *Platform) mfaEnable(r *http.Request, in mfaInput) (mfaAnswer, error) {
	return p.changeMFA(r, func(u *User) error {
		if !totpMatches(u.MFASecret, in.Code, time.Now()) {
			return fmt.Errorf("%w: not the current code", ErrInvalid)
		}
		u.MFA = true
		return nil
	})
}

// mfaDisable is POST /users/me/mfa/disable, with a code of it too.
func (p *Platform) mfaDisable(r *http.Request, in mfaInput) (mfaAnswer, error) {
	return p.changeMFA(r, func(u *User) error {
		if !u.MFA || !totpMatches(u.MFASecret, in.Code, time.Now()) {
			return fmt.Errorf("%w: not the current code", ErrInvalid)
		}
		u.MFA, u.MFASecret = false, ""
		return nil
	})
}

func (p *Platform) changeMFA(r *http.Request, change func(*User) error) (mfaAnswer, error) {
	who, err := p.caller(r)
	if err != nil || who.product {
		return mfaAnswer{}, errDenied
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	user := p.state.user(who.user.ID)
	if user == nil {
		return mfaAnswer{}, errDenied
	}
	if err := change(user); err != nil {
		return mfaAnswer{}, err
	}
	p.touch()
	answer := mfaAnswer{Enabled: user.MFA}
	if user.MFASecret != "" && !user.MFA {
		answer.Secret, answer.Code = user.MFASecret, totp(user.MFASecret, time.Now())
		answer.URL = "otpauth://totp/simulator:" + user.Email + "?issuer=simulator&secret=" + user.MFASecret
	}
	return answer, nil
}

// deliveryLogs is GET /webhooks/delivery-logs?product=&status=, newest first.
func (p *Platform) deliveryLogs(r *http.Request, _ nothing) (any, error) {
	who, err := p.caller(r)
	if err != nil {
		return nil, err
	}
	query := r.URL.Query()
	list := []Delivery{}
	if product := query.Get("product"); product == "" || product == p.Product().Slug {
		for _, d := range p.Deliveries() {
			if who.mayTouch(d.Tenant) && matches(query.Get("status"), d.Status) {
				list = append(list, d)
			}
		}
	}
	return map[string]any{"deliveries": list}, nil
}

// matches is a filter's rule: an empty one lets everything through.
func matches(filter, value string) bool { return filter == "" || filter == value }

// pauseByID and resumeByID are POST /subscriptions/{id}/pause and …/resume.
func (p *Platform) pauseByID(r *http.Request, _ nothing) (Subscription, error) {
	return p.changeByID(r, func(slug string) error {
		_, err := p.Pause(r.Context(), slug)
		return err
	})
}

func (p *Platform) resumeByID(r *http.Request, _ nothing) (Subscription, error) {
	return p.changeByID(r, func(slug string) error {
		_, err := p.Resume(r.Context(), slug)
		return err
	})
}

func (p *Platform) changeByID(r *http.Request, change func(slug string) error) (Subscription, error) {
	who, err := p.caller(r)
	if err != nil {
		return Subscription{}, err
	}
	find := func() *Tenant {
		for _, t := range p.Tenants() {
			if t.Subscription != nil && t.Subscription.ID == r.PathValue("id") && who.mayTouch(t.Slug) {
				return &t
			}
		}
		return nil
	}
	t := find()
	if t == nil {
		return Subscription{}, fmt.Errorf("subscription %q: %w", r.PathValue("id"), ErrUnknown)
	}
	if err := change(t.Slug); err != nil {
		return Subscription{}, err
	}
	if t = find(); t == nil { // subscribed anew meanwhile
		return Subscription{}, fmt.Errorf("subscription %q: %w", r.PathValue("id"), ErrUnknown)
	}
	return *t.Subscription, nil
}

// invoices is POST /invoices, refunds POST /orders/{id}/refund.
func (p *Platform) invoices(r *http.Request, in struct {
	Order string `json:"orderId"`
	Title string `json:"title"`
}) (Invoice, error) {
	who, err := p.caller(r)
	if err != nil {
		return Invoice{}, err
	}
	return p.requestInvoice(in.Order, in.Title, who)
}

func (p *Platform) refunds(r *http.Request, _ struct {
	Reason string `json:"reason"`
}) (Order, error) {
	who, err := p.caller(r)
	if err != nil {
		return Order{}, err
	}
	return p.refund(r.PathValue("id"), who)
}
