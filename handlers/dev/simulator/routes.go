package simulator

import (
	"net"
	"net/http"
	"path"
	"strings"
)

// route is an address with what it does, for the console's page about the API.
type route struct {
	pattern     string
	Takes, Does string
	handle      http.HandlerFunc
}

// group is a table of addresses.
type group struct {
	Name, Note string
	Routes     []route
}

// Method and Path are the pattern's parts.
func (r route) Method() string { method, _, _ := strings.Cut(r.pattern, " "); return method }
func (r route) Path() string   { _, path, _ := strings.Cut(r.pattern, " "); return path }

// Handler serves everything: the contract's browser and server endpoints, the
// console at / and its API under /_sim/.
func (p *Platform) Handler() http.Handler {
	mux := http.NewServeMux()
	for _, g := range p.addresses() {
		for _, r := range g.Routes {
			mux.HandleFunc(r.pattern, r.handle)
		}
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

// Address is how a browser or a product on this machine reaches a listener.
func Address(l net.Listener) string {
	host, port, _ := net.SplitHostPort(l.Addr().String())
	if ip := net.ParseIP(host); ip == nil || ip.IsUnspecified() {
		host = "localhost"
	}
	return "http://" + net.JoinHostPort(host, port)
}

// addresses are all of them. The tables are the documentation too: the console
// shows them, and the README repeats them.
func (p *Platform) addresses() []group {
	return []group{
		{"The contract’s", "As the contract has them, section 4.1.", []route{
			{"GET /auth/sso", "?appSlug=&redirect=", "The sign-in page; straight back to redirect, with a code, when this browser is signed in at the platform.", p.login},
			{"POST /api/v1/auth/sso/user-info", `X-Api-Key, {"code"}`, `{"userId","email","tenantSlug","planType","subscriptionStatus","tenantStatus"}; 401 for a wrong key, 415 for another content type, 400 for a code that is unknown, used or expired.`, p.exchange},
		}},
		{"Named by the contract", "Section 4.3 has the paths and shows no shapes: these are the simulator’s own.", []route{
			{"POST /api/v1/auth/sms/send", `{"phone"}`, `{"sent","expiresIn","simulatorCode"}; 404 when the number is nobody’s.`, endpoint(p, p.smsSend)},
			{"POST /api/v1/auth/sms/login", `{"phone","code"}`, `{"accessToken","expiresIn","user"}, or {"mfaToken","mfaRequired"}; then it takes {"mfaToken","mfaCode"}.`, endpoint(p, p.smsLogin)},
			{"POST /api/v1/users/me/mfa/setup", "Bearer", `{"enabled":false,"secret","otpauthUrl","simulatorCode"}`, p.changeMFA(mfaSetup)},
			{"POST /api/v1/users/me/mfa/enable", `Bearer, {"code"}`, `{"enabled":true}`, p.changeMFA(mfaEnable)},
			{"POST /api/v1/users/me/mfa/disable", `Bearer, {"code"}`, `{"enabled":false}`, p.changeMFA(mfaDisable)},
			{"GET /api/v1/webhooks/delivery-logs", "X-Api-Key or Bearer, ?product=&status=", `{"deliveries":[…]}, newest first; a status is pending, delivered or failed.`, authorized(p, p.deliveryLogs)},
			{"POST /api/v1/subscriptions/{id}/pause", "X-Api-Key or Bearer", "The subscription; sends subscription.paused.", p.changeByID(p.Pause)},
			{"POST /api/v1/subscriptions/{id}/resume", "X-Api-Key or Bearer", "The subscription; sends subscription.resumed.", p.changeByID(p.Resume)},
			{"POST /api/v1/invoices", `X-Api-Key or Bearer, {"orderId","title"}`, "The invoice, which waits for approval in the console.", authorized(p, p.requestInvoice)},
			{"POST /api/v1/orders/{id}/refund", `X-Api-Key or Bearer, {"reason"}`, "The order, with the callbacks of its two payment channels.", authorized(p, p.refund)},
			{"GET /.well-known/jwks.json", "", "The key set of the tokens, RS256.", endpoint(p, p.jwks)},
		}},
		{"The simulator’s", "For tests in any language. JSON in, JSON out; a form with the same names is accepted too.", []route{
			{"GET /_sim/state", "", "Product (without secrets), tenants, users, faults, probes, orders, invoices.", list(func() any { return p.snapshot() })},
			{"GET /_sim/revision", "", `{"revision"}, a number that changes whenever anything does.`, list(func() any { return map[string]int{"revision": p.currentRevision()} })},
			{"POST /_sim/reset", "", "Forgets everything but product, schema script and keys.", action(p, p.Reset)},
			{"POST /_sim/tenants", `{"slug","name","plan","users":[{"id","email","name","phone"}]}`, "A tenant, without any event.", endpoint(p, p.apiTenant)},
			{"POST /_sim/subscribe", `{"slug","plan","name","email","signIn"}`, `{"delivery","user","url"}; sends subscription.created. url, with signIn: the callback address with a code.`, endpoint(p, p.subscribe)},
			{"POST /_sim/pause", `{"slug"}`, "The delivery of subscription.paused.", p.changeTenantBy(p.Pause)},
			{"POST /_sim/resume", `{"slug"}`, "The delivery of subscription.resumed.", p.changeTenantBy(p.Resume)},
			{"POST /_sim/plan", `{"slug","plan"}`, "The delivery of subscription.updated.", endpoint(p, p.apiPlan)},
			{"POST /_sim/cancel", `{"slug"}`, "The delivery of tenant.cancelled.", p.changeTenantBy(p.Cancel)},
			{"POST /_sim/users", `{"id","email","name","phone","tenant","mfa"}`, "Adds a user, or changes the one with this id.", endpoint(p, func(_ *http.Request, u User) (User, error) { return p.SaveUser(u) })},
			{"POST /_sim/codes", `{"user"}`, `{"code"}, a one-time code without a browser.`, endpoint(p, p.apiCode)},
			{"POST /_sim/sign-in", `{"user"}`, `{"user","url"}; signs this browser in at the platform, and on to the product.`, endpoint(p, p.visitAs)},
			{"POST /_sim/sign-out", "", "Signs this browser out at the platform.", p.signOut},
			{"GET /_sim/exchanges", "", `{"exchanges":[…]}, every code that came to user-info, with the status of the answer.`, list(func() any { return map[string]any{"exchanges": p.Exchanges()} })},
			{"POST /_sim/send", `{"eventType","tenant","body"}`, "A delivery of body as it is, or of a well-formed event about tenant.", endpoint(p, p.sendAny)},
			{"POST /_sim/resend", `{"id"}`, "Sends a delivery’s body once more.", endpoint(p, p.apiResend)},
			{"GET /_sim/deliveries", "?status=&tenant=", `{"deliveries":[…]}, newest first.`, endpoint(p, p.apiDeliveries)},
			{"GET /_sim/deliveries/{id}", "?wait=10s", "One delivery, at once or when its retries are over.", endpoint(p, p.oneDelivery)},
			{"GET /_sim/faults", "", "The faults that are on.", list(func() any { return p.Faults() })},
			{"POST /_sim/faults", `{"userInfoDelay":"6s","userInfoStatus":500,…}`, "All faults at once, named as GET has them; what is left out is off, so {} turns all off.", endpoint(p, p.apiFaults)},
			{"POST /_sim/faults/switch", `{"fault","on"}`, "One of the console’s switches.", endpoint(p, p.switchFault)},
			{"GET /_sim/probes", "", `{"probes":[…]}, oldest first.`, list(func() any { return map[string]any{"probes": p.Probes()} })},
			{"POST /_sim/probe", "", "Probes the health URL now.", endpoint(p, p.apiProbe)},
			{"POST /_sim/product", `{"slug","name","apiKey","webhookSecret","webhookUrl","callbackUrl","healthUrl"}`, "Changes the fields that are given.", p.saveProduct},
			{"POST /_sim/schema-script", `{"script","own"}`, "Fills the field and compares it with own, or with the product’s.", endpoint(p, p.saveScript)},
			{"POST /_sim/tokens", `{"user","flaw"}`, `{"token"}, RS256. flaw is empty, or expired, not-yet, wrong-issuer, wrong-audience, wrong-key, unknown-key, altered, alg-none or hs256.`, endpoint(p, p.apiToken)},
			{"POST /_sim/keys/rotate", "", "A new key signs from now on; the old ones stay published.", action(p, p.RotateKey)},
			{"POST /_sim/keys/withdraw", "", "Unpublishes all keys but the signing one.", action(p, p.WithdrawKeys)},
			{"POST /_sim/invoices/approve", `{"id"}`, "The administration’s part of an invoice request.", endpoint(p, p.approveInvoice)},
		}},
	}
}
