package simulator

import (
	"errors"
	"slices"
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
			p.state.subscribe(t, plan)
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

func (s *state) addTenant(slug, name string) *Tenant {
	if name == "" {
		name = slug
	}
	t := &Tenant{Slug: slug, Name: name, Status: StatusActive, CreatedAt: time.Now().UTC()}
	s.Tenants = append(s.Tenants, t)
	return t
}

// subscribe gives t a new subscription, with the order that paid for it.
func (s *state) subscribe(t *Tenant, plan string) {
	t.Subscription = &Subscription{ID: s.number("sub"), Plan: plan, Status: StatusActive, CreatedAt: time.Now().UTC()}
	s.Orders = append(s.Orders, &Order{
		ID: s.number("ord"), Tenant: t.Slug, Subscription: t.Subscription.ID, Plan: plan,
		Status: OrderPaid, CreatedAt: t.Subscription.CreatedAt,
	})
}
