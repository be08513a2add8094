package simulator

import (
	"cmp"
	"fmt"
	"strings"
)

// User is a person of one tenant.
type User struct {
	ID     string `json:"id"` // made when empty
	Email  string `json:"email"`
	Name   string `json:"name"`
	Phone  string `json:"phone,omitempty"` // for signing in with a text message
	Tenant string `json:"tenant"`          // slug
	// MFA says that signing in takes a second factor: a time-based code
	// (RFC 6238) of MFASecret, which is there as soon as the setup has begun.
	MFA       bool   `json:"mfa"`
	MFASecret string `json:"mfaSecret,omitempty"`
}

func (u User) key() (kind, id string) { return "user", u.ID }

// is says whether u is the tenant's user with this e-mail address.
func (u User) is(tenant, email string) bool {
	return u.Tenant == tenant && strings.EqualFold(u.Email, email)
}

// Users returns all users, oldest first.
func (p *Platform) Users() []User { return all(p, &p.state.Users) }

// SaveUser adds u, or changes the user with its ID, and returns the result.
// Turning MFA on without a secret makes one. ErrUnknown: no such tenant.
// ErrInvalid: no e-mail address, or a phone number that is somebody else's.
func (p *Platform) SaveUser(u User) (User, error) {
	defer p.change()()
	u.Email, u.Phone = strings.TrimSpace(u.Email), strings.TrimSpace(u.Phone)
	if err := p.state.checkUser(u); err != nil {
		return User{}, fmt.Errorf("user: %w", err)
	}
	saved, err := find(p.state.Users, u.ID)
	if err != nil {
		saved = p.state.addUser(u)
	}
	u.ID, u.Name = saved.ID, cmp.Or(u.Name, saved.Name)
	if u.MFA {
		u.MFASecret = cmp.Or(u.MFASecret, saved.MFASecret, newSecret())
	}
	*saved = u
	return u, nil
}

func (s *state) checkUser(u User) error {
	if !strings.Contains(u.Email, "@") {
		return fmt.Errorf("%w: %q is no e-mail address", ErrInvalid, u.Email)
	}
	if _, err := find(s.Tenants, u.Tenant); err != nil {
		return err
	}
	for _, other := range s.Users {
		switch {
		case other.ID == u.ID:
		case u.Phone != "" && other.Phone == u.Phone:
			return fmt.Errorf("%w: %s has this phone number already", ErrInvalid, other.Email)
		case other.is(u.Tenant, u.Email):
			return fmt.Errorf("%w: %s is a user of %s already", ErrInvalid, u.Email, u.Tenant)
		}
	}
	return nil
}

// addUser adds u unless its tenant has one with its ID or e-mail address.
func (s *state) addUser(u User) *User {
	for i, other := range s.Users {
		if u.ID != "" && other.ID == u.ID || other.is(u.Tenant, u.Email) {
			return &s.Users[i]
		}
	}
	if u.ID == "" {
		u.ID = s.number("usr")
	}
	local, _, _ := strings.Cut(u.Email, "@")
	u.Name = cmp.Or(u.Name, local)
	s.Users = append(s.Users, u)
	return &s.Users[len(s.Users)-1]
}

// userOf returns the tenant's user with this e-mail address or, without one, its
// first user, who is made when there is none.
func (s *state) userOf(slug, email string) User {
	for _, u := range s.Users {
		if u.Tenant == slug && (email == "" || strings.EqualFold(u.Email, email)) {
			return u
		}
	}
	return *s.addUser(User{Email: cmp.Or(email, "owner@"+slug+".example"), Name: "Owner of " + slug, Tenant: slug})
}
