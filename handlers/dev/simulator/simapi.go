package simulator

import (
	"context"
	"fmt"
	"net/http"
)

// The API under /_sim/: what the console does and tests drive. Each call does
// what the Go method of its name does.

// list is the handler of a call that only shows something.
func list(show func() any) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, http.StatusOK, show()) }
}

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
	return lookup(p, &p.state.Tenants, in.Slug)
}

// input is what most calls take: each names some of these.
type input struct {
	ID    string `json:"id"`
	Slug  string `json:"slug"`
	Plan  string `json:"plan"`
	User  string `json:"user"`
	Flaw  string `json:"flaw"`
	Fault string `json:"fault"`
	On    bool   `json:"on"`
}

// changeFunc is Pause, Resume or Cancel.
type changeFunc = func(ctx context.Context, slug string) (Delivery, error)

func (p *Platform) changeTenantBy(change changeFunc) http.HandlerFunc {
	return endpoint(p, func(r *http.Request, in input) (Delivery, error) { return change(r.Context(), in.Slug) })
}

func (p *Platform) apiPlan(r *http.Request, in input) (Delivery, error) {
	return p.ChangePlan(r.Context(), in.Slug, in.Plan)
}

func (p *Platform) apiResend(r *http.Request, in input) (Delivery, error) {
	return p.Resend(r.Context(), in.ID)
}

func (p *Platform) apiDeliveries(r *http.Request, _ nothing) (any, error) {
	return map[string]any{"deliveries": p.filtered(r, caller{product: true})}, nil
}

func (p *Platform) apiProbe(r *http.Request, _ nothing) (Probe, error) {
	return p.Probe(context.WithoutCancel(r.Context())), nil
}

func (p *Platform) apiFaults(_ *http.Request, f Faults) (Faults, error) {
	if err := f.check(); err != nil {
		return f, err
	}
	p.SetFaults(f)
	return f, nil
}

func (p *Platform) apiCode(_ *http.Request, in input) (any, error) {
	code, err := p.IssueCode(in.User)
	return map[string]string{"code": code}, err
}

func (p *Platform) apiToken(r *http.Request, in input) (any, error) {
	token, err := p.Token(p.publicURL(r), in.User, in.Flaw)
	return map[string]string{"token": token}, err
}
