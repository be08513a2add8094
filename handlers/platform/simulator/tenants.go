package simulator

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Statuses of tenants and subscriptions. The contract names only Active
// (section 3); the others are the simulator's own.
const (
	StatusActive    = "Active"
	StatusPaused    = "Paused"
	StatusCancelled = "Cancelled"
	StatusNone      = "None" // of a tenant that never subscribed
)

// What a request can get wrong.
var (
	ErrUnknown = errors.New("not known here")
	ErrInvalid = errors.New("not acceptable")
)

// Tenant is a customer of the platform. The simulator has one product, so a
// tenant has at most one subscription.
type Tenant struct {
	Slug         string        `json:"slug"`
	Name         string        `json:"name"`
	Status       string        `json:"status"`
	CreatedAt    time.Time     `json:"createdAt"`
	Subscription *Subscription `json:"subscription,omitempty"`
}

// Subscription is a tenant's plan of the product.
type Subscription struct {
	ID        string    `json:"id"`
	Plan      string    `json:"plan"`
	Status    string    `json:"status"`
	CreatedAt time.Time `json:"createdAt"`
}

// User is a person of one tenant.
type User struct {
	ID     string `json:"id"` // made when empty
	Email  string `json:"email"`
	Name   string `json:"name"`
	Phone  string `json:"phone,omitempty"`
	Tenant string `json:"tenant"` // slug
}

// AddTenant makes a tenant with these users and, unless plan is empty, an
// active subscription, without telling the product. A tenant that is there
// already stays as it is and only gets the users that it lacks; a tenant
// without users gets one, so that somebody can sign in. Slugs are not checked:
// what a product does with an impossible one is worth trying.
func (p *Platform) AddTenant(slug, name, plan string, users ...User) {
	p.mu.Lock()
	defer p.mu.Unlock()
	defer p.touch()
	if p.state.tenant(slug) == nil {
		t := p.state.addTenant(slug, name)
		if plan != "" {
			t.Subscription = p.state.newSubscription(plan)
		}
	}
	for _, u := range users {
		u.Tenant = slug
		p.state.addUser(u)
	}
	p.state.ensureUser(slug)
}

// Tenants returns all tenants, oldest first.
func (p *Platform) Tenants() []Tenant {
	p.mu.Lock()
	defer p.mu.Unlock()
	tenants := make([]Tenant, 0, len(p.state.Tenants))
	for _, t := range p.state.Tenants {
		tenants = append(tenants, t.copy())
	}
	return tenants
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

func (t *Tenant) copy() Tenant {
	c := *t
	if t.Subscription != nil {
		s := *t.Subscription
		c.Subscription = &s
	}
	return c
}

// plan and status are what user-info says of a tenant's subscription.
func (t *Tenant) plan() string {
	if t.Subscription == nil {
		return ""
	}
	return t.Subscription.Plan
}

func (t *Tenant) subscriptionStatus() string {
	if t.Subscription == nil {
		return StatusNone
	}
	return t.Subscription.Status
}

func (s *state) tenant(slug string) *Tenant {
	i := slices.IndexFunc(s.Tenants, func(t *Tenant) bool { return t.Slug == slug })
	if i < 0 {
		return nil
	}
	return s.Tenants[i]
}

func (s *state) user(id string) *User {
	i := slices.IndexFunc(s.Users, func(u *User) bool { return u.ID == id })
	if i < 0 {
		return nil
	}
	return s.Users[i]
}

func (s *state) addTenant(slug, name string) *Tenant {
	if name == "" {
		name = slug
	}
	t := &Tenant{Slug: slug, Name: name, Status: StatusActive, CreatedAt: time.Now().UTC()}
	s.Tenants = append(s.Tenants, t)
	return t
}

func (s *state) newSubscription(plan string) *Subscription {
	return &Subscription{ID: s.number("sub"), Plan: plan, Status: StatusActive, CreatedAt: time.Now().UTC()}
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
