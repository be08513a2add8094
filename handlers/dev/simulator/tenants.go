package simulator

import (
	"cmp"
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

// Tenant is a customer of the platform. The simulator has one product, so a
// tenant has at most one subscription.
type Tenant struct {
	Slug         string       `json:"slug"`
	Name         string       `json:"name"`
	Status       string       `json:"status"`
	CreatedAt    time.Time    `json:"createdAt"`
	Subscription Subscription `json:"subscription,omitzero"`
}

// Subscription is a tenant's plan of the product.
type Subscription struct {
	ID        string    `json:"id"`
	Plan      string    `json:"plan"`
	Status    string    `json:"status"`
	CreatedAt time.Time `json:"createdAt"`
}

func (t Tenant) key() (kind, id string) { return "tenant", t.Slug }

// subscriptionStatus is what user-info says of the tenant's subscription.
func (t Tenant) subscriptionStatus() string { return cmp.Or(t.Subscription.Status, StatusNone) }

// AddTenant makes a tenant with these users and, unless plan is empty, an
// active subscription, without telling the product. An existing tenant stays as
// it is and only gets the users that it lacks; a tenant without users gets one,
// so that somebody can sign in. Slugs are not checked: what a product does with
// an impossible one is worth trying.
func (p *Platform) AddTenant(slug, name, plan string, users ...User) {
	defer p.change()()
	if _, err := find(p.state.Tenants, slug); err != nil {
		t := Tenant{Slug: slug, Name: cmp.Or(name, slug), Status: StatusActive, CreatedAt: time.Now().UTC()}
		if plan != "" {
			p.state.subscribe(&t, plan)
		}
		p.state.Tenants = append(p.state.Tenants, t)
	}
	for _, u := range users {
		u.Tenant = slug
		p.state.addUser(u)
	}
	p.state.userOf(slug, "")
}

// Tenants returns all tenants, oldest first.
func (p *Platform) Tenants() []Tenant { return all(p, &p.state.Tenants) }

// subscribe gives t a new subscription, with the order that paid for it.
func (s *state) subscribe(t *Tenant, plan string) {
	t.Subscription = Subscription{ID: s.number("sub"), Plan: plan, Status: StatusActive, CreatedAt: time.Now().UTC()}
	s.Orders = append(s.Orders, Order{
		ID: s.number("ord"), Tenant: t.Slug, Subscription: t.Subscription.ID, Plan: plan,
		Status: OrderPaid, CreatedAt: t.Subscription.CreatedAt,
	})
}
