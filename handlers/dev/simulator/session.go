package simulator

import (
	"crypto/rand"
	"maps"
	"net/http"
	"strings"
	"time"
)

const (
	sessionCookie   = "simulator_session" // cookies ignore ports: not the product's name
	sessionLifetime = 12 * time.Hour
)

// session is somebody signed in at the platform: a browser with a cookie, or a
// program with an access token.
type session struct {
	user    string
	expires time.Time
}

// newSession returns the token of a new session in the given map; p.mu is held.
func newSession(in map[string]session, userID string, lifetime time.Duration) string {
	now := time.Now()
	maps.DeleteFunc(in, func(_ string, s session) bool { return now.After(s.expires) })
	token := rand.Text()
	in[token] = session{user: userID, expires: now.Add(lifetime)}
	return token
}

// holder returns a copy of a token's user, nil when it is not good; p.mu is held.
func (p *Platform) holder(in map[string]session, token string) *User {
	s, ok := in[token]
	if !ok || time.Now().After(s.expires) {
		return nil
	}
	user, err := find(p.state.Users, s.user)
	if err != nil { // it is gone
		return nil
	}
	return new(*user)
}

// signIn starts a session at the platform for this browser, whatever factors
// the user has: it is the console's.
func (p *Platform) signIn(w http.ResponseWriter, userID string) {
	unlock := p.change()
	token := newSession(p.sessions, userID, sessionLifetime)
	unlock()
	p.setCookie(w, token, int(sessionLifetime.Seconds()))
}

// signOut is POST /_sim/sign-out: it ends this browser's session at the platform.
func (p *Platform) signOut(w http.ResponseWriter, r *http.Request) {
	if cookie, err := r.Cookie(sessionCookie); err == nil {
		unlock := p.change()
		delete(p.sessions, cookie.Value)
		unlock()
	}
	p.setCookie(w, "", -1)
	p.answer(w, r, nothing{}, nil)
}

func (p *Platform) setCookie(w http.ResponseWriter, value string, maxAge int) {
	http.SetCookie(w, &http.Cookie{
		Name: sessionCookie, Value: value, Path: "/", MaxAge: maxAge, HttpOnly: true,
		SameSite: http.SameSiteLaxMode, Secure: strings.HasPrefix(p.options.PublicURL, "https://"),
	})
}

// signedIn returns the user that this browser is signed in as, or nil.
func (p *Platform) signedIn(r *http.Request) *User {
	cookie, err := r.Cookie(sessionCookie)
	if err != nil {
		return nil
	}
	defer p.lock()()
	return p.holder(p.sessions, cookie.Value)
}
