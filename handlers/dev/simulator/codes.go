package simulator

import (
	"crypto/rand"
	"fmt"
	"slices"
	"time"
)

// ticket is a one-time code and whom it was issued to.
type ticket struct {
	user    string
	expires time.Time
	used    bool
}

// Exchange is one user-info call that brought a code, in the order of arrival.
// One code in two exchanges means that the product sent it twice.
type Exchange struct {
	At     time.Time `json:"at"`
	Code   string    `json:"code"`
	User   string    `json:"user,omitempty"` // ID; empty when the code was refused
	Status int       `json:"status"`         // of the answer; 0: the connection was cut
	Fault  string    `json:"fault,omitempty"`
}

// keptExchanges bounds the log.
const keptExchanges = 1000

// IssueCode returns a new one-time code for a user, as /auth/sso would.
func (p *Platform) IssueCode(userID string) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.state.user(userID) == nil {
		return "", fmt.Errorf("code for user %q: %w", userID, ErrUnknown)
	}
	now := time.Now()
	for code, t := range p.codes { // forget what nobody asks for any more
		if now.Sub(t.expires) > time.Hour {
			delete(p.codes, code)
		}
	}
	code := "sso_" + rand.Text()
	p.codes[code] = &ticket{user: userID, expires: now.Add(p.options.CodeLifetime)}
	return code, nil
}

// Exchanges returns the user-info calls with a code, oldest first.
func (p *Platform) Exchanges() []Exchange {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.exchanges)
}

// redeem spends a code and returns what user-info says of its user, or why not.
func (p *Platform) redeem(code string) (_ userInfo, refusal string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.codes[code]
	switch {
	case t == nil:
		return userInfo{}, "code_unknown"
	case t.used:
		return userInfo{}, "code_used"
	}
	t.used = true
	if time.Now().After(t.expires) {
		return userInfo{}, "code_expired"
	}
	user := p.state.user(t.user)
	if user == nil {
		return userInfo{}, "user_gone"
	}
	return p.state.userInfo(user), ""
}

// noteExchange writes a call down before it is answered.
func (p *Platform) noteExchange(e Exchange) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.exchanges) >= keptExchanges {
		p.exchanges = slices.Delete(p.exchanges, 0, 1)
	}
	e.At = time.Now().UTC()
	p.exchanges = append(p.exchanges, e)
	p.touch()
}
