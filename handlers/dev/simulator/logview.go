package simulator

import "net/http"

// pageSize is how many deliveries one page of the log shows.
const pageSize = 40

// logView is a page of the delivery log, newest first.
type logView struct {
	List    []Delivery
	Open    string // the one that is unfolded
	Status  string
	Tenant  string
	Older   string // the last one shown, when there are more
	Tenants []Tenant
	Counts  map[string]int
}

func (p *Platform) logView(r *http.Request) any {
	view := logView{
		Status: r.FormValue("status"), Tenant: r.FormValue("tenant"), Tenants: p.Tenants(),
		Counts: map[string]int{},
	}
	before := r.FormValue("before")
	for _, d := range p.Deliveries() {
		if !matches(view.Tenant, d.Tenant) {
			continue
		}
		view.Counts[d.Status]++
		view.Counts[""]++
		switch {
		case before != "":
			if d.ID == before {
				before = ""
			}
		case !matches(view.Status, d.Status):
		case len(view.List) == pageSize:
			view.Older = view.List[pageSize-1].ID
		default:
			view.List = append(view.List, d)
		}
	}
	return view
}

// oneDelivery is the page of a single delivery, to link to.
func (p *Platform) oneDelivery(w http.ResponseWriter, r *http.Request) {
	d, err := p.Delivery(r.PathValue("id"))
	if err != nil {
		p.fail(w, r, http.StatusNotFound, "No such delivery", err)
		return
	}
	p.render(w, r, http.StatusOK, "delivery", "Delivery "+d.ID, d)
}
