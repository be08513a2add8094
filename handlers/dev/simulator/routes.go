package simulator

import (
	"net"
	"net/http"
	"path"
	"slices"
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
	for _, r := range slices.Concat(p.contractRoutes(), p.namedRoutes(), p.simulatorRoutes()) {
		mux.HandleFunc(r.pattern, r.handle)
	}
	for _, t := range p.tabs() {
		mux.HandleFunc("GET "+t.Path, p.page(t))
	}
	mux.HandleFunc("POST /auth/sso", p.login)
	mux.HandleFunc("GET /deliveries/{id}", p.deliveryPage)
	mux.HandleFunc("GET /assets/{name}", func(w http.ResponseWriter, r *http.Request) {
		http.ServeFileFS(w, r, assets, path.Join("assets", "files", r.PathValue("name")))
	})
	return http.NewCrossOriginProtection().Handler(p.secure(mux))
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
// an IP address, or localhost. Any other may be an attacker's page whose own
// name leads here (DNS rebinding).
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

// notFound answers unknown addresses.
func (p *Platform) notFound(w http.ResponseWriter, r *http.Request) {
	if wantsPage(r) {
		p.render(w, r, http.StatusNotFound, "error", "Not found", "There is no such address.")
		return
	}
	refuse(w, http.StatusNotFound, "unknown", "there is no such address")
}
