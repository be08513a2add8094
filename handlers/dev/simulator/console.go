package simulator

import (
	"net/http"
	"slices"
)

// The console's pages. They show; what they do goes through the API under
// /_sim/, whose calls take a browser back to the page.

// page is a handler that shows one view.
func (p *Platform) page(name, title string, view func(*http.Request) any) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { p.render(w, r, http.StatusOK, name, title, view(r)) }
}

// tenantRow is a tenant with who signs in to it first.
type tenantRow struct {
	Tenant
	FirstUser string
	Orders    []Order
}

func (p *Platform) overview(*http.Request) any {
	view := struct {
		Tenants []tenantRow
		Recent  []Delivery
		Health  chart
		Product Product
	}{Health: newChart(p.Probes()), Product: p.Product().withoutSecrets()}
	users := p.Users()
	for _, t := range p.Tenants() {
		row := tenantRow{Tenant: t}
		if i := slices.IndexFunc(users, func(u User) bool { return u.Tenant == t.Slug }); i >= 0 {
			row.FirstUser = users[i].ID
		}
		view.Tenants = append(view.Tenants, row)
	}
	view.Recent = p.Deliveries()
	view.Recent = view.Recent[:min(len(view.Recent), 7)]
	return view
}

func (p *Platform) usersView(*http.Request) any {
	exchanges := p.Exchanges()
	slices.Reverse(exchanges)
	return struct {
		Users     []User
		Tenants   []Tenant
		Exchanges []Exchange // the last ones, newest first
	}{p.Users(), p.Tenants(), exchanges[:min(len(exchanges), 20)]}
}

func (p *Platform) healthView(*http.Request) any {
	probes := p.Probes()
	view := struct {
		Health   chart
		Probes   []Probe
		Product  Product
		Interval string
	}{Health: newChart(probes), Product: p.Product().withoutSecrets(), Interval: "only on demand"}
	if p.options.HealthInterval > 0 {
		view.Interval = "every " + p.options.HealthInterval.String()
	}
	slices.Reverse(probes)
	view.Probes = probes[:min(len(probes), 50)]
	return view
}

func (p *Platform) faultsView(*http.Request) any {
	type shown struct {
		faultSwitch
		On bool
	}
	type group struct {
		Name     string
		Switches []shown
	}
	view := struct {
		Faults Faults
		Groups []group
	}{Faults: p.Faults(), Groups: []group{{Name: groupUserInfo}, {Name: groupHealth}, {Name: groupDelivery}}}
	for _, s := range switches() {
		for i := range view.Groups {
			if view.Groups[i].Name == s.Group {
				view.Groups[i].Switches = append(view.Groups[i].Switches, shown{s, s.isOn(view.Faults)})
			}
		}
	}
	return view
}

func (p *Platform) billingView(*http.Request) any {
	orders, invoices := p.bills()
	return struct {
		Orders   []Order
		Invoices []Invoice
	}{orders, invoices}
}

func (p *Platform) productView(r *http.Request) any {
	p.mu.Lock()
	script, keys := p.state.SchemaScript, slices.Clone(p.state.Keys)
	p.mu.Unlock()
	return struct {
		Product   Product
		Script    string
		Check     ScriptCheck
		HasOwn    bool
		Keys      []signingKey
		PublicURL string
	}{p.Product().withoutSecrets(), script, p.CheckSchemaScript(""), p.options.SchemaScript != nil, keys, p.publicURL(r)}
}
