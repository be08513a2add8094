package simulator

import (
	"crypto/rand"
	"net/http"
	"strings"
	"time"
)

const (
	sessionCookie   = "simulator_session" // cookies ignore ports: not the product's name
	sessionLifetime = 12 * time.Hour
)

// session is a browser signed in at the platform.
type session struct {
	user    string
	expires time.Time
}

// signIn starts a session at the platform for this browser.
func (p *Platform) signIn(w http.ResponseWriter, userID string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	token := rand.Text()
	p.sessions[token] = session{user: userID, expires: time.Now().Add(sessionLifetime)}
	p.setCookie(w, token, int(sessionLifetime.Seconds()))
}

// signOut ends it.
func (p *Platform) signOut(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if cookie, err := r.Cookie(sessionCookie); err == nil {
		delete(p.sessions, cookie.Value)
	}
	p.setCookie(w, "", -1)
}

func (p *Platform) setCookie(w http.ResponseWriter, value string, maxAge int) {
	http.SetCookie(w, &http.Cookie{
		Name: sessionCookie, Value: value, Path: "/", MaxAge: maxAge, HttpOnly: true,
		SameSite: http.SameSiteLaxMode, Secure: strings.HasPrefix(p.options.PublicURL, "https://"),
	})
}

// signedIn returns the user that this browser is signed in as.
func (p *Platform) signedIn(r *http.Request) (User, bool) {
	cookie, err := r.Cookie(sessionCookie)
	if err != nil {
		return User{}, false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	s, ok := p.sessions[cookie.Value]
	user := p.state.user(s.user)
	if !ok || user == nil || time.Now().After(s.expires) {
		delete(p.sessions, cookie.Value)
		return User{}, false
	}
	return *user, true
}
