package simulator

import (
	"context"
	"fmt"
	"net/http"
)

// The API under /_sim/: what the console does and tests drive. Each call does
// what the Go method of its name does.

// tenantInput adds a tenant without telling the product.
type tenantInput struct {
	Slug  string `json:"slug"`
	Name  string `json:"name"`
	Plan  string `json:"plan"`
	Users []User `json:"users"`
}

func (p *Platform) apiTenant(_ *http.Request, in tenantInput) (Tenant, error) {
	if in.Slug == "" {
		return Tenant{}, fmt.Errorf("%w: a tenant needs a slug", ErrInvalid)
	}
	p.AddTenant(in.Slug, in.Name, in.Plan, in.Users...)
	return p.tenantNamed(in.Slug)
}

func (p *Platform) tenantNamed(slug string) (Tenant, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if t := p.state.tenant(slug); t != nil {
		return t.copy(), nil
	}
	return Tenant{}, fmt.Errorf("tenant %q: %w", slug, ErrUnknown)
}

type slugInput struct {
	Slug string `json:"slug"`
}

type planInput struct {
	Slug string `json:"slug"`
	Plan string `json:"plan"`
}

func (p *Platform) apiPlan(r *http.Request, in planInput) (Delivery, error) {
	return p.ChangePlan(r.Context(), in.Slug, in.Plan)
}

// apiChange is pause, resume or cancel.
func (p *Platform) apiChange(change func(context.Context, string) (Delivery, error)) http.HandlerFunc {
	return endpoint(p, func(r *http.Request, in slugInput) (Delivery, error) { return change(r.Context(), in.Slug) })
}

type userInput struct {
	User string `json:"user"`
}

func (p *Platform) apiCode(_ *http.Request, in userInput) (any, error) {
	code, err := p.IssueCode(in.User)
	return map[string]string{"code": code}, err
}

func (p *Platform) apiSaveUser(_ *http.Request, in User) (User, error) { return p.SaveUser(in) }

func (p *Platform) apiReset(*http.Request, nothing) (any, error) {
	p.Reset()
	return nothing{}, nil
}

// apiState is everything but the log, without secrets.
func (p *Platform) apiState(*http.Request, nothing) (any, error) {
	orders, invoices := p.bills()
	return struct {
		Product  Product   `json:"product"`
		Tenants  []Tenant  `json:"tenants"`
		Users    []User    `json:"users"`
		Faults   Faults    `json:"faults"`
		Probes   []Probe   `json:"probes"`
		Orders   []Order   `json:"orders"`
		Invoices []Invoice `json:"invoices"`
	}{p.Product().withoutSecrets(), p.Tenants(), p.Users(), p.Faults(), p.Probes(), orders, invoices}, nil
}

// apiRevision counts changes: the console asks it whether to look again.
func (p *Platform) apiRevision(*http.Request, nothing) (any, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return map[string]int{"revision": p.revision}, nil
}

func (p *Platform) apiExchanges(*http.Request, nothing) (any, error) {
	return map[string]any{"exchanges": append([]Exchange{}, p.Exchanges()...)}, nil
}

func (p *Platform) apiProbes(*http.Request, nothing) (any, error) {
	return map[string]any{"probes": append([]Probe{}, p.Probes()...)}, nil
}

func (p *Platform) apiFaults(*http.Request, nothing) (Faults, error) { return p.Faults(), nil }

func (p *Platform) apiApprove(_ *http.Request, in idInput) (Invoice, error) {
	return p.approveInvoice(in.ID)
}

// docsView is the API as the route tables have it.
func (p *Platform) docsView(*http.Request) any {
	type group struct {
		Name, Note string
		Routes     []route
	}
	return []group{
		{"The contract’s", "As the contract has them, section 4.1.", p.contractRoutes()},
		{"Named by the contract", "Section 4.3 has the paths and shows no shapes: these are the simulator’s own.", p.namedRoutes()},
		{"The simulator’s", "For tests in any language. JSON in, JSON out; a form with the same names does too.", p.simulatorRoutes()},
	}
}
