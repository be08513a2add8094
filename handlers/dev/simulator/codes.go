package simulator

import (
	"crypto/rand"
	"maps"
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

const (
	codeLifetime  = time.Minute
	keptExchanges = 1000 // the oldest go first
)

// IssueCode returns a new one-time code for a user, as /auth/sso would.
func (p *Platform) IssueCode(userID string) (string, error) {
	defer p.lock()()
	if _, err := find(p.state.Users, userID); err != nil {
		return "", err
	}
	now := time.Now()
	maps.DeleteFunc(p.codes, func(_ string, t *ticket) bool { return now.Sub(t.expires) > time.Hour })
	code := "sso_" + rand.Text()
	p.codes[code] = &ticket{user: userID, expires: now.Add(codeLifetime)}
	return code, nil
}

// Exchanges returns the user-info calls with a code, oldest first.
func (p *Platform) Exchanges() []Exchange { return all(p, &p.exchanges) }

// redeem spends a code and returns what user-info says of its user, or why not.
func (p *Platform) redeem(code string) (info userInfo, refusal string) {
	defer p.lock()()
	t := p.codes[code]
	switch {
	case t == nil:
		return info, "code_unknown"
	case t.used:
		return info, "code_used"
	}
	t.used = true
	if time.Now().After(t.expires) {
		return info, "code_expired"
	}
	user, err := find(p.state.Users, t.user)
	if err != nil {
		return info, "user_gone"
	}
	return p.state.userInfo(user), ""
}

// noteExchange records a call before it is answered.
func (p *Platform) noteExchange(e Exchange) {
	defer p.change()()
	e.At = time.Now().UTC()
	p.exchanges = keepLast(p.exchanges, keptExchanges, e)
}
