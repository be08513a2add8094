// Package session keeps who is signed in: scs on a store of our own, so that a
// token is never kept, and a tenant's sessions end with one DELETE.
package session

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/alexedwards/scs/v2"
	"github.com/labstack/echo/v4"

	"example.com/subproduct/tenancy"
)

// User is who is signed in, as the platform described them at sign-in, but for
// the plan: that is the tenant's as it is now.
type User struct {
	ID                 string `json:"userId"`
	Email              string `json:"email"`
	TenantSlug         string `json:"tenantSlug"`
	PlanType           string `json:"planType"`
	SubscriptionStatus string `json:"subscriptionStatus"`
}

// SameAs reports whether both are one person in one tenant.
func (u User) SameAs(v User) bool { return u.ID == v.ID && u.TenantSlug == v.TenantSlug }

// Pending is a sign-in that the platform has granted and that waits: for the
// workspace to be ready, or for the browser's owner to agree to a switch.
type Pending struct {
	User     User   `json:"user"`
	ReturnTo string `json:"returnTo"`
	// Nonce, of the page that asks about a switch, is what its buttons send back.
	// Empty: nothing is asked.
	Nonce string `json:"nonce"`
	// AskedAt is when the platform was asked who this is.
	AskedAt time.Time `json:"askedAt"`
	// Until is when it has waited too long.
	Until time.Time `json:"until"`
}

// pendingLifetime is how long a sign-in may wait.
const pendingLifetime = 10 * time.Minute

// Names of the values in a session.
const (
	userKey    = "user"
	pendingKey = "pending"
	agentKey   = "agent"
)

// Manager loads the session of each request and writes it at sign-in and
// sign-out, and at no other time: a request costs one read. What a product
// wants to remember goes into the tenant's tables.
type Manager struct {
	scs  *scs.SessionManager
	db   *tenancy.DB
	host string // of this server, as browsers know it
}

// New returns a manager. Sessions end lifetime after sign-in, used or not;
// public is where browsers reach this server.
func New(db *tenancy.DB, lifetime time.Duration, public *url.URL) *Manager {
	secure := public.Scheme == "https"
	m := scs.New()
	m.Lifetime = lifetime
	m.Codec = codec{}
	m.Store = store{db}
	m.Cookie.SameSite = http.SameSiteLaxMode
	m.Cookie.Secure = secure
	if secure {
		m.Cookie.Name = "__Host-session"
	}
	return &Manager{scs: m, db: db, host: public.Host}
}

// SignIn makes the browser's session that of user, under a new token and for a
// whole lifetime; on an error the session is what it was. It returns
// tenancy.ErrTenantCancelled when the tenant was cancelled meanwhile.
func (m *Manager) SignIn(c echo.Context, user User) error {
	ctx, err := m.open(c)
	if err != nil {
		return err
	}
	if current, signedIn := From(ctx); signedIn && !current.SameAs(user) {
		placeIn(ctx).replaced = current.ID + " of " + current.TenantSlug
	}
	if err := m.scs.RenewToken(ctx); err != nil {
		return fmt.Errorf("sign in: %w", err)
	}
	m.scs.Remove(ctx, pendingKey)
	return m.save(c, userKey, user)
}

// Hold keeps a sign-in that must wait, in the browser's session. It returns
// tenancy.ErrSessionEnded when that was ended meanwhile.
func (m *Manager) Hold(c echo.Context, p Pending) error {
	ctx, err := m.open(c)
	if err != nil {
		return err
	}
	if _, signedIn := From(ctx); !signedIn {
		m.scs.SetDeadline(ctx, time.Now().Add(pendingLifetime))
	}
	p.Until = time.Now().Add(pendingLifetime)
	return m.save(c, pendingKey, p)
}

// Pending returns the sign-in that waits in the browser's session.
func (m *Manager) Pending(c echo.Context) (Pending, bool) {
	ctx, err := m.open(c)
	if err != nil {
		return Pending{}, false
	}
	p, ok := get[Pending](m, ctx, pendingKey)
	return p, ok && time.Now().Before(p.Until)
}

// Drop forgets the sign-in that waits. Where none does it writes nothing: not
// everybody who asks may make a row.
func (m *Manager) Drop(c echo.Context) error {
	ctx, err := m.open(c)
	if err != nil || !m.scs.Exists(ctx, pendingKey) {
		return err
	}
	m.scs.Remove(ctx, pendingKey)
	return m.commit(c)
}

// SignOut ends the browser's session.
func (m *Manager) SignOut(c echo.Context) error {
	ctx, err := m.open(c)
	if err != nil {
		return err
	}
	placeIn(ctx).leaving = true
	if err := m.scs.Destroy(ctx); err != nil {
		return fmt.Errorf("sign out: %w", err)
	}
	m.scs.WriteSessionCookie(ctx, c.Response(), "", time.Time{})
	return nil
}

func (m *Manager) save(c echo.Context, key string, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	m.scs.Put(ctx, key, string(text))
	m.scs.Put(ctx, agentKey, fmt.Sprintf("%.200s", c.Request().UserAgent()))
	return m.commit(c)
}

// commit writes the session and its cookie before anything else is answered,
// so that an error is still an error page.
func (m *Manager) commit(c echo.Context) error {
	ctx := c.Request().Context()
	token, expiry, err := m.scs.Commit(ctx)
	if err != nil {
		return err
	}
	m.scs.WriteSessionCookie(ctx, c.Response(), token, expiry)
	return nil
}

func get[T any](m *Manager, ctx context.Context, key string) (value T, found bool) {
	text := m.scs.GetString(ctx, key)
	return value, text != "" && json.Unmarshal([]byte(text), &value) == nil
}

// List returns where the signed-in user is signed in, newest first.
func (m *Manager) List(ctx context.Context) ([]tenancy.Session, error) {
	slug, userID, err := owner(ctx)
	if err != nil {
		return nil, err
	}
	return m.db.Sessions(ctx, slug, userID, placeIn(ctx).token)
}

// End ends another session of the signed-in user; all others with id 0. It
// returns how many it ended.
func (m *Manager) End(ctx context.Context, id int64) (int64, error) {
	slug, userID, err := owner(ctx)
	if err != nil {
		return 0, err
	}
	return m.db.EndSessions(ctx, slug, userID, id, placeIn(ctx).token)
}

func owner(ctx context.Context) (tenancy.Slug, string, error) {
	tenant, err := tenancy.TenantFrom(ctx)
	user, _ := From(ctx)
	return tenant.Slug, user.ID, err
}
