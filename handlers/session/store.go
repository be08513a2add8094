package session

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/alexedwards/scs/v2"

	"example.com/subproduct/tenancy"
)

// store keeps scs sessions in public.sessions. The tenant and the user of a
// session stand in columns beside its data, taken from the data itself.
type store struct{ db *tenancy.DB }

var _ scs.CtxStore = store{}

// loaded is what the middleware has learned of the request's session; zero
// without one.
type loaded struct {
	token    string
	tenant   tenancy.Tenant
	data     data
	user     User
	signedIn bool
	open     bool   // scs has read it too
	replaced string // whose session a sign-in takes the place of, for the audit log
	renewed  string // the token that a sign-in gives up
	leaving  bool   // the session's owner ends it
}

type loadedKey struct{}

// FindCtx gives scs what the middleware has found.
func (s store) FindCtx(ctx context.Context, token string) ([]byte, bool, error) {
	place := placeIn(ctx)
	return place.data, place.token == token, nil
}

// CommitCtx must not ask the session manager for values: it holds its lock.
func (s store) CommitCtx(ctx context.Context, token string, data []byte, expiry time.Time) error {
	_, values, err := codec{}.Decode(data)
	if err != nil {
		return err
	}
	row := tenancy.Session{Data: data, ExpiresAt: expiry}
	agent, _ := values[agentKey].(string)
	row.UserAgent = strings.ToValidUTF8(strings.ReplaceAll(agent, "\x00", ""), "")
	if text, ok := values[userKey].(string); ok {
		var user User
		if err := json.Unmarshal([]byte(text), &user); err != nil {
			return err
		}
		if row.Tenant, err = tenancy.ParseSlug(user.TenantSlug); err != nil {
			return err
		}
		row.UserID = user.ID
	}
	place := placeIn(ctx)
	if place.token == token {
		return s.db.UpdateSession(ctx, token, row) // it may have been ended since
	}
	row.Replaced, row.Renews = place.replaced, place.renewed
	return s.db.SaveSession(ctx, token, row)
}

// DeleteCtx ends the session of an owner who leaves. The one that a sign-in
// renews ends when the new one is saved: if it is not, the old one stays.
func (s store) DeleteCtx(ctx context.Context, token string) error {
	place := placeIn(ctx)
	if place.leaving {
		return s.db.SignOut(ctx, token)
	}
	place.renewed = token
	return nil
}

// placeIn is what the middleware has learned; without it, nothing.
func placeIn(ctx context.Context) *loaded {
	if place, ok := ctx.Value(loadedKey{}).(*loaded); ok {
		return place
	}
	return &loaded{}
}

// scs asks for these, and calls them only where there is no context method.
var errNoContext = errors.New("session store: a context is needed")

func (store) Find(string) ([]byte, bool, error)      { return nil, false, errNoContext }
func (store) Commit(string, []byte, time.Time) error { return errNoContext }
func (store) Delete(string) error                    { return errNoContext }

// codec is JSON: it is read in a database client, and a gob decoder would be
// compiled anew for every request.
type codec struct{}

// data is a session as it is stored.
type data []byte

// user is who is signed in, read without the rest.
func (d data) user() (user User, ok bool) {
	var stored struct {
		Values struct {
			User string `json:"user"` // userKey
		} `json:"values"`
	}
	if len(d) == 0 || json.Unmarshal(d, &stored) != nil || stored.Values.User == "" {
		return User{}, false
	}
	return user, json.Unmarshal([]byte(stored.Values.User), &user) == nil
}

type encoded struct {
	Deadline time.Time      `json:"deadline"`
	Values   map[string]any `json:"values"`
}

func (codec) Encode(deadline time.Time, values map[string]any) ([]byte, error) {
	return json.Marshal(encoded{deadline, values})
}

func (codec) Decode(b []byte) (time.Time, map[string]any, error) {
	var e encoded
	err := json.Unmarshal(b, &e)
	if e.Values == nil {
		e.Values = map[string]any{}
	}
	return e.Deadline, e.Values, err
}
