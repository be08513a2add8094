package simulator

import (
	"net"
	"net/http"
	"strings"
)

// route is an address with what it does, for the console's page about the API.
type route struct {
	pattern     string
	Takes, Does string
	handle      http.HandlerFunc
}

// Method and Path are the pattern's parts.
func (r route) Method() string { method, _, _ := strings.Cut(r.pattern, " "); return method }
func (r route) Path() string   { _, path, _ := strings.Cut(r.pattern, " "); return path }

// Handler serves everything: the contract's browser and server endpoints, the
// console at / and its API under /_sim/.
func (p *Platform) Handler() http.Handler {
	mux := http.NewServeMux()
	for _, table := range [][]route{p.contractRoutes(), p.namedRoutes(), p.simulatorRoutes(), p.consoleRoutes()} {
		for _, r := range table {
			mux.HandleFunc(r.pattern, r.handle)
		}
	}
	return http.NewCrossOriginProtection().Handler(p.secure(mux))
}

// consoleRoutes are pages, and the steps of the sign-in page.
func (p *Platform) consoleRoutes() []route {
	return []route{
		{"POST /auth/sso", "", "", p.loginStep(p.chooseUser)},
		{"POST /auth/sso/phone", "", "", p.loginStep(p.enterPhone)},
		{"POST /auth/sso/text", "", "", p.loginStep(p.enterText)},
		{"POST /auth/sso/second-factor", "", "", p.loginStep(p.enterSecondFactor)},
		{"GET /{$}", "", "", p.page("overview", "Overview", p.overview)},
		{"GET /deliveries", "", "", p.page("deliveries", "Deliveries", p.logView)},
		{"GET /deliveries/{id}", "", "", p.oneDelivery},
		{"GET /users", "", "", p.page("users", "Users", p.usersView)},
		{"GET /health", "", "", p.page("health", "Health", p.healthView)},
		{"GET /faults", "", "", p.page("faults", "Faults", p.faultsView)},
		{"GET /billing", "", "", p.page("billing", "Billing", p.billingView)},
		{"GET /product", "", "", p.page("product", "Product", p.productView)},
		{"GET /docs", "", "", p.page("docs", "API", p.docsView)},
		{"GET /assets/{name}", "", "", asset},
		{"GET /", "", "", p.lost},
	}
}

// secure sets the headers of pages that run nothing but their own files. There
// is no form-action: browsers apply it to the redirects after a form too, and
// signing in ends wherever the product sends its user.
func (p *Platform) secure(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !p.local(r.Host) {
			http.Error(w, "this name is not the simulator's; start it with PublicURL to use it", http.StatusMisdirectedRequest)
			return
		}
		h := w.Header()
		h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "+
			"img-src 'self'; base-uri 'none'; frame-ancestors 'none'")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r)
	})
}

// local says whether the name in a request can be the simulator's: PublicURL's,
// an IP address, or localhost. Any other may be a stranger's page that had its
// own name point here (DNS rebinding), be it by a name server of the network.
func (p *Platform) local(host string) bool {
	if strings.HasSuffix(p.options.PublicURL, "://"+host) {
		return true
	}
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	return net.ParseIP(strings.Trim(name, "[]")) != nil || name == "localhost" || strings.HasSuffix(name, ".localhost")
}

// lost answers addresses that lead nowhere.
func (p *Platform) lost(w http.ResponseWriter, r *http.Request) {
	if wantsPage(r) {
		p.render(w, r, http.StatusNotFound, "error", "Nothing here", failure{"Nothing here", "This address leads nowhere."})
		return
	}
	refuse(w, http.StatusNotFound, "unknown", "this address leads nowhere")
}
