package simulator

import (
	"fmt"
	"slices"
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

// Users returns all users, oldest first.
func (p *Platform) Users() []User {
	p.mu.Lock()
	defer p.mu.Unlock()
	users := make([]User, 0, len(p.state.Users))
	for _, u := range p.state.Users {
		users = append(users, *u)
	}
	return users
}

// User returns one user, or ErrUnknown.
func (p *Platform) User(id string) (User, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	u := p.state.user(id)
	if u == nil {
		return User{}, fmt.Errorf("user %q: %w", id, ErrUnknown)
	}
	return *u, nil
}

// SaveUser adds u, or changes the user with its ID, and returns the result.
// Turning MFA on without a secret makes one. ErrUnknown: no such tenant.
// ErrInvalid: no e-mail address, or a phone number that is somebody else's.
func (p *Platform) SaveUser(u User) (User, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	u.Email, u.Phone = strings.TrimSpace(u.Email), strings.TrimSpace(u.Phone)
	if err := p.state.checkUser(u); err != nil {
		return User{}, fmt.Errorf("user: %w", err)
	}
	saved := p.state.user(u.ID)
	if saved == nil {
		saved = p.state.addUser(u)
	}
	if u.Name == "" {
		u.Name = saved.Name
	}
	if u.MFA && u.MFASecret == "" {
		if u.MFASecret = saved.MFASecret; u.MFASecret == "" {
			u.MFASecret = newSecret()
		}
	}
	u.ID = saved.ID
	*saved = u
	p.touch()
	return u, nil
}

func (s *state) checkUser(u User) error {
	switch {
	case !strings.Contains(u.Email, "@"):
		return fmt.Errorf("%w: %q is no e-mail address", ErrInvalid, u.Email)
	case s.tenant(u.Tenant) == nil:
		return fmt.Errorf("%w: no tenant %q", ErrUnknown, u.Tenant)
	}
	for _, other := range s.Users {
		if other.ID == u.ID {
			continue
		}
		if u.Phone != "" && other.Phone == u.Phone {
			return fmt.Errorf("%w: %s has this phone number already", ErrInvalid, other.Email)
		}
		if u.Tenant == other.Tenant && strings.EqualFold(u.Email, other.Email) {
			return fmt.Errorf("%w: %s is a user of %s already", ErrInvalid, u.Email, u.Tenant)
		}
	}
	return nil
}

func (s *state) user(id string) *User {
	i := slices.IndexFunc(s.Users, func(u *User) bool { return u.ID == id })
	if i < 0 {
		return nil
	}
	return s.Users[i]
}

// addUser adds u unless its tenant has one with its ID or e-mail address.
func (s *state) addUser(u User) *User {
	for _, other := range s.Users {
		if u.ID != "" && other.ID == u.ID || other.Tenant == u.Tenant && strings.EqualFold(other.Email, u.Email) {
			return other
		}
	}
	if u.ID == "" {
		u.ID = s.number("usr")
	}
	if u.Name == "" {
		u.Name, _, _ = strings.Cut(u.Email, "@")
	}
	s.Users = append(s.Users, &u)
	return &u
}

// ensureUser returns the tenant's first user, made when there is none.
func (s *state) ensureUser(slug string) *User {
	for _, u := range s.Users {
		if u.Tenant == slug {
			return u
		}
	}
	return s.addUser(User{Email: fmt.Sprintf("owner@%s.example", slug), Name: "Owner of " + slug, Tenant: slug})
}
