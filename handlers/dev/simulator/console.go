package simulator

import (
	"fmt"
	"net/http"
	"slices"
)

// tab is a page of the console. Pages only show; what they do goes through the
// API under /_sim/, whose calls take a browser back to the page.
type tab struct {
	Path, Title string
	file        string
	view        func(*http.Request) any // what the page shows beside the snapshot; may be nil
}

func (p *Platform) tabs() []tab {
	return []tab{
		{"/", "Overview", "overview", nil},
		{"/deliveries", "Deliveries", "deliveries", p.logView},
		{"/users", "Users", "users", nil},
		{"/health", "Health", "health", p.healthView},
		{"/faults", "Faults", "faults", p.faultsView},
		{"/billing", "Billing", "billing", nil},
		{"/product", "Product", "product", p.productView},
		{"/docs", "API", "docs", func(*http.Request) any { return p.addresses() }},
	}
}

func (p *Platform) page(t tab) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != t.Path { // the pattern of "/" matches every path
			p.answerError(w, r, fmt.Errorf("address %s: %w", r.URL.Path, ErrUnknown))
			return
		}
		var view any
		if t.view != nil {
			view = t.view(r)
		}
		p.render(w, r, http.StatusOK, t.file, t.Title, view)
	}
}

// snapshot is what the console and GET /_sim/state show: never a secret of the
// product. Lists are oldest first.
type snapshot struct {
	Product    Product    `json:"product"`
	Tenants    []Tenant   `json:"tenants"`
	Users      []User     `json:"users"`
	Faults     Faults     `json:"faults"`
	Probes     []Probe    `json:"probes"`
	Orders     []Order    `json:"orders"`
	Invoices   []Invoice  `json:"invoices"`
	Deliveries []Delivery `json:"-"`
	Exchanges  []Exchange `json:"-"`
	Script     string     `json:"-"`
	Revision   int        `json:"-"`
}

func (p *Platform) snapshot() snapshot {
	defer p.lock()()
	s := p.state
	return snapshot{
		s.Product.withoutSecrets(), copied(s.Tenants), copied(s.Users), p.faults, copied(s.Probes),
		copied(s.Orders), copied(s.Invoices), copied(s.Deliveries), copied(p.exchanges), s.SchemaScript, p.revision,
	}
}

// currentRevision counts changes: the console asks it whether to look again.
func (p *Platform) currentRevision() int {
	defer p.lock()()
	return p.revision
}

// pageSize is how many deliveries one page of the log shows.
const pageSize = 40

// logView is a page of the delivery log, newest first.
type logView struct {
	List           []Delivery
	Status, Tenant string
	Older          string // the last one shown, when there are more
	Counts         map[string]int
}

func (p *Platform) logView(r *http.Request) any {
	view := logView{Status: r.FormValue("status"), Tenant: r.FormValue("tenant"), Counts: map[string]int{}}
	for _, d := range p.Deliveries() {
		if matches(view.Tenant, d.Tenant) {
			view.Counts[d.Status]++
			view.Counts[""]++
		}
	}
	view.List = p.filtered(r, caller{product: true})
	before := slices.IndexFunc(view.List, func(d Delivery) bool { return d.ID == r.FormValue("before") })
	view.List = view.List[before+1:]
	if len(view.List) > pageSize {
		view.List, view.Older = view.List[:pageSize], view.List[pageSize-1].ID
	}
	return view
}

// deliveryPage is the page of a single delivery, to link to.
func (p *Platform) deliveryPage(w http.ResponseWriter, r *http.Request) {
	d, err := p.Delivery(r.PathValue("id"))
	if err != nil {
		p.fail(w, r, http.StatusNotFound, "No such delivery", err)
		return
	}
	p.render(w, r, http.StatusOK, "delivery", "Delivery "+d.ID, d)
}

// healthView is when probes happen.
func (p *Platform) healthView(*http.Request) any {
	if p.options.HealthInterval < 0 {
		return "only on demand"
	}
	return "every " + p.options.HealthInterval.String()
}

func (p *Platform) faultsView(*http.Request) any {
	type shown struct {
		faultSwitch
		On bool
	}
	groups, faults := map[string][]shown{}, p.Faults()
	for _, s := range switches() {
		groups[s.Group] = append(groups[s.Group], shown{s, s.isOn(faults)})
	}
	return groups
}

func (p *Platform) productView(r *http.Request) any {
	return struct {
		Check     ScriptCheck
		HasOwn    bool
		Keys      []signingKey
		PublicURL string
	}{p.checkScript(""), p.options.SchemaScript != nil, all(p, &p.state.Keys), p.publicURL(r)}
}
