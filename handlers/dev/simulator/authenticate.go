package simulator

import (
	"crypto/rand"
	"crypto/subtle"
	"fmt"
	"math/big"
	"strings"
	"time"
)

const (
	textLifetime    = 5 * time.Minute  // of a text message's code
	textTries       = 5                // wrong ones, before the code is no longer good
	pendingLifetime = 10 * time.Minute // of an mfaToken
)

// textMessage is a code sent to a phone.
type textMessage struct {
	code    string
	expires time.Time
	tries   int
}

// LoginResponse is the platform's answer to a sign-in (contract, section 2):
// no accessToken while the second factor has not been passed, and an mfaToken
// instead. The other fields are the simulator's own.
type LoginResponse struct {
	AccessToken string `json:"accessToken,omitempty"`
	ExpiresIn   int    `json:"expiresIn,omitempty"` // seconds
	MFAToken    string `json:"mfaToken,omitempty"`
	MFARequired bool   `json:"mfaRequired,omitempty"`
	User        *User  `json:"user,omitempty"`
}

// sendText makes a code for a phone number; ErrUnknown when it is nobody's.
// There is no phone: whoever asked is shown the code.
func (p *Platform) sendText(phone string) (code string, err error) {
	defer p.lock()()
	if p.state.userByPhone(phone) == nil {
		return "", fmt.Errorf("phone number %q: %w", phone, ErrUnknown)
	}
	n, _ := rand.Int(rand.Reader, big.NewInt(1_000_000)) // that reader never fails
	code = fmt.Sprintf("%06d", n)
	p.texts[strings.TrimSpace(phone)] = &textMessage{code: code, expires: time.Now().Add(textLifetime)}
	return code, nil
}

// checkText spends a text message's code: the first factor.
func (p *Platform) checkText(phone, code string) (LoginResponse, error) {
	defer p.lock()()
	phone = strings.TrimSpace(phone)
	sent, user := p.texts[phone], p.state.userByPhone(phone)
	if sent == nil || user == nil || sent.tries >= textTries || time.Now().After(sent.expires) {
		return LoginResponse{}, fmt.Errorf("%w: this phone number has no code to enter, ask for a new one", ErrInvalid)
	}
	if sent.tries++; subtle.ConstantTimeCompare([]byte(sent.code), []byte(strings.TrimSpace(code))) != 1 {
		return LoginResponse{}, fmt.Errorf("%w: that is not the code from the text message", ErrInvalid)
	}
	delete(p.texts, phone)
	return p.firstFactorPassed(*user), nil
}

// checkChoice takes the choice of a user for the first factor: it stands for a
// password.
func (p *Platform) checkChoice(userID string) (LoginResponse, error) {
	defer p.lock()()
	user, err := find(p.state.Users, userID)
	if err != nil {
		return LoginResponse{}, err
	}
	return p.firstFactorPassed(*user), nil
}

func (p *Platform) firstFactorPassed(user User) LoginResponse {
	if user.MFA {
		return LoginResponse{MFARequired: true, MFAToken: newSession(p.pending, user.ID, pendingLifetime)}
	}
	return p.signedInResponse(user)
}

// checkSecondFactor goes on from there with a code of the second factor.
func (p *Platform) checkSecondFactor(mfaToken, code string) (LoginResponse, error) {
	defer p.lock()()
	user := p.holder(p.pending, mfaToken)
	if user == nil {
		return LoginResponse{}, fmt.Errorf("%w: this sign-in has taken too long, begin again", ErrInvalid)
	}
	if !totpMatches(user.MFASecret, strings.TrimSpace(code), time.Now()) {
		return LoginResponse{}, fmt.Errorf("%w: that is not the current code of the second factor", ErrInvalid)
	}
	delete(p.pending, mfaToken)
	return p.signedInResponse(*user), nil
}

func (p *Platform) signedInResponse(user User) LoginResponse {
	user.MFASecret = ""
	return LoginResponse{
		AccessToken: newSession(p.sessions, user.ID, sessionLifetime),
		ExpiresIn:   int(sessionLifetime.Seconds()), User: &user,
	}
}

func (s *state) userByPhone(phone string) *User {
	phone = strings.TrimSpace(phone)
	for i := range s.Users {
		if phone != "" && s.Users[i].Phone == phone {
			return &s.Users[i]
		}
	}
	return nil
}
