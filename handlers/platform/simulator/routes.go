package simulator

import (
	"net"
	"net/http"
	"strings"
)

// route is an address with what it does, for the console's page about the API.
type route struct {
	pattern, does string
	handle        http.HandlerFunc
}

// Method and Path are the pattern's parts.
func (r route) Method() string { m, _, _ := strings.Cut(r.pattern, " "); return m }
func (r route) Path() string   { _, path, _ := strings.Cut(r.pattern, " "); return path }
func (r route) Does() string   { return r.does }

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

// contractRoutes are those that the contract describes.
func (p *Platform) contractRoutes() []route {
	return []route{
		{"GET /auth/sso", "?appSlug=&redirect=. The sign-in page, or straight back to the redirect with ?code= when this browser is signed in at the platform.", p.loginStep(p.startLogin)},
		{"POST /api/v1/auth/sso/user-info", `X-Api-Key and {"code"}. userId, email, tenantSlug, planType, subscriptionStatus, tenantStatus. 401 for a wrong key, 415 for another content type, 400 for a code that is unknown, used or expired.`, p.exchange},
	}
}

// namedRoutes are those that the contract only names (section 4.3).
func (p *Platform) namedRoutes() []route {
	return []route{
		{"POST /api/v1/auth/sms/send", `{"phone"}. {"sent","expiresIn","simulatorCode"}; 404 when the number is nobody's.`, endpoint(p, p.smsSend)},
		{"POST /api/v1/auth/sms/login", `{"phone","code"}. {"accessToken","expiresIn","user"}, or {"mfaToken","mfaRequired"} and then {"mfaToken","mfaCode"}.`, endpoint(p, p.smsLogin)},
		{"POST /api/v1/users/me/mfa/setup", `Bearer. {"enabled":false,"secret","otpauthUrl","simulatorCode"}.`, endpoint(p, p.mfaSetup)},
		{"POST /api/v1/users/me/mfa/enable", `Bearer, {"code"}. {"enabled":true}.`, endpoint(p, p.mfaEnable)},
		{"POST /api/v1/users/me/mfa/disable", `Bearer, {"code"}. {"enabled":false}.`, endpoint(p, p.mfaDisable)},
		{"GET /api/v1/webhooks/delivery-logs", `?product=&status=pending|delivered|failed. X-Api-Key or Bearer. {"deliveries":[…]}, newest first.`, endpoint(p, p.deliveryLogs)},
		{"POST /api/v1/subscriptions/{id}/pause", "X-Api-Key or Bearer. The subscription; sends subscription.paused.", endpoint(p, p.pauseByID)},
		{"POST /api/v1/subscriptions/{id}/resume", "X-Api-Key or Bearer. The subscription; sends subscription.resumed.", endpoint(p, p.resumeByID)},
		{"POST /api/v1/invoices", `X-Api-Key or Bearer, {"orderId","title"}. The invoice, for approval in the console.`, endpoint(p, p.invoices)},
		{"POST /api/v1/orders/{id}/refund", `X-Api-Key or Bearer, {"reason"}. The order with the callbacks of its two payment channels.`, endpoint(p, p.refunds)},
		{"GET /.well-known/jwks.json", "The key set of the tokens, RS256.", p.jwks},
	}
}

// simulatorRoutes are the simulator's own API.
func (p *Platform) simulatorRoutes() []route {
	return []route{
		{"GET /_sim/state", "Product (without secrets), tenants, users, faults, probes, orders, invoices.", endpoint(p, p.apiState)},
		{"GET /_sim/revision", `{"revision"}: a number that changes whenever anything does.`, endpoint(p, p.apiRevision)},
		{"POST /_sim/reset", "Forgets everything but product, schema script and keys.", endpoint(p, p.apiReset)},
		{"POST /_sim/tenants", `{"slug","name","plan","users":[{"id","email","name","phone"}]}. A tenant, without any event.`, endpoint(p, p.apiTenant)},
		{"POST /_sim/subscribe", `{"slug","plan","name","email","signIn"}. {"delivery","user","url"}: subscription.created, then with signIn the callback address with a code.`, p.apiSubscribe},
		{"POST /_sim/pause", `{"slug"}. The delivery.`, p.apiChange(p.Pause)},
		{"POST /_sim/resume", `{"slug"}. The delivery.`, p.apiChange(p.Resume)},
		{"POST /_sim/cancel", `{"slug"}. The delivery of tenant.cancelled.`, p.apiChange(p.Cancel)},
		{"POST /_sim/users", `{"id","email","name","phone","tenant","mfa"}. Adds a user, or changes the one with this id.`, endpoint(p, p.apiSaveUser)},
		{"POST /_sim/codes", `{"user"}. {"code"}: a one-time code without a browser.`, endpoint(p, p.apiCode)},
		{"POST /_sim/sign-in", `{"user"}. {"url"}: signs this browser in at the platform, and on to the product.`, p.apiSignIn},
		{"POST /_sim/sign-out", "Signs this browser out at the platform.", p.signOut},
		{"GET /_sim/exchanges", `{"exchanges":[…]}: every code that came to user-info, with the status of the answer.`, endpoint(p, p.apiExchanges)},
		{"POST /_sim/send", `{"eventType","tenant","body"}. Sends body as it is, or a well-formed event about tenant.`, endpoint(p, p.apiSend)},
		{"POST /_sim/resend", `{"id"}. Sends a delivery's body once more.`, endpoint(p, p.apiResend)},
		{"GET /_sim/deliveries", `?status=&tenant=. {"deliveries":[…]}, newest first.`, endpoint(p, p.apiDeliveries)},
		{"GET /_sim/deliveries/{id}", "?wait=10s. One delivery, at once or when its retries are over.", endpoint(p, p.apiDelivery)},
		{"GET /_sim/faults", "The faults that are on.", endpoint(p, p.apiFaults)},
		{"POST /_sim/faults", `All faults at once; what is left out is off, so {} mends everything. Times as "6s".`, endpoint(p, p.setFaults)},
		{"POST /_sim/faults/switch", `{"fault","on"}. One of the console's switches.`, endpoint(p, p.switchFault)},
		{"GET /_sim/probes", `{"probes":[…]}, oldest first.`, endpoint(p, p.apiProbes)},
		{"POST /_sim/probe", "Probes the health URL now.", endpoint(p, p.apiProbe)},
		{"POST /_sim/product", `{"slug","name","apiKey","webhookSecret","webhookUrl","callbackUrl","healthUrl"}. Changes the fields that are given.`, endpoint(p, p.apiProduct)},
		{"POST /_sim/schema-script", `{"script","own"}. Fills the field and compares it with own, or with the product's.`, endpoint(p, p.apiScript)},
		{"POST /_sim/tokens", `{"user","flaw"}. {"token"}: RS256; flaw is empty or one of expired, not-yet, wrong-issuer, wrong-audience, wrong-key, unknown-key, altered, alg-none, hs256.`, endpoint(p, p.apiToken)},
		{"POST /_sim/keys/rotate", "A new key signs from now on; the old ones stay published.", endpoint(p, p.apiRotate)},
		{"POST /_sim/keys/withdraw", "Unpublishes all keys but the signing one.", endpoint(p, p.apiWithdraw)},
		{"POST /_sim/invoices/approve", `{"id"}. The administration's part of an invoice request.`, endpoint(p, p.apiApprove)},
	}
}

// consoleRoutes are pages, and the steps of the sign-in page.
func (p *Platform) consoleRoutes() []route {
	return []route{
		{"POST /auth/sso", "", p.loginStep(p.chooseUser)},
		{"POST /auth/sso/phone", "", p.loginStep(p.enterPhone)},
		{"POST /auth/sso/text", "", p.loginStep(p.enterText)},
		{"POST /auth/sso/second-factor", "", p.loginStep(p.enterSecondFactor)},
		{"GET /{$}", "", p.page("overview", "Overview", p.overview)},
		{"GET /deliveries", "", p.page("deliveries", "Deliveries", p.logView)},
		{"GET /deliveries/{id}", "", p.oneDelivery},
		{"GET /users", "", p.page("users", "Users", p.usersView)},
		{"GET /health", "", p.page("health", "Health", p.healthView)},
		{"GET /faults", "", p.page("faults", "Faults", p.faultsView)},
		{"GET /billing", "", p.page("billing", "Billing", p.billingView)},
		{"GET /product", "", p.page("product", "Product", p.productView)},
		{"GET /docs", "", p.page("docs", "API", p.docsView)},
		{"GET /assets/{name}", "", asset},
		{"GET /", "", p.lost},
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
// an IP address, or one that no public name server answers for. Any other is a
// stranger's page that had its own name point here (DNS rebinding).
func (p *Platform) local(host string) bool {
	if strings.HasSuffix(p.options.PublicURL, "://"+host) {
		return true
	}
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	if net.ParseIP(strings.Trim(name, "[]")) != nil || !strings.Contains(name, ".") {
		return true
	}
	for _, private := range []string{".localhost", ".local", ".internal", ".test", ".example"} {
		if strings.HasSuffix(name, private) {
			return true
		}
	}
	return false
}

// lost answers addresses that lead nowhere.
func (p *Platform) lost(w http.ResponseWriter, r *http.Request) {
	if wantsPage(r) {
		p.render(w, r, http.StatusNotFound, "error", "Nothing here", failure{"Nothing here", "This address leads nowhere."})
		return
	}
	refuse(w, http.StatusNotFound, "unknown", "this address leads nowhere")
}
