package simulator

// The tables below are the documentation too: the console shows them, and the
// README repeats them.

// contractRoutes are those that the contract describes.
func (p *Platform) contractRoutes() []route {
	return []route{
		{"GET /auth/sso", "?appSlug=&redirect=", "The sign-in page; straight back to redirect, with a code, when this browser is signed in at the platform.", p.loginStep(p.startLogin)},
		{"POST /api/v1/auth/sso/user-info", `X-Api-Key, {"code"}`, `{"userId","email","tenantSlug","planType","subscriptionStatus","tenantStatus"}; 401 for a wrong key, 415 for another content type, 400 for a code that is unknown, used or expired.`, p.exchange},
	}
}

// namedRoutes are those that the contract only names (section 4.3).
func (p *Platform) namedRoutes() []route {
	return []route{
		{"POST /api/v1/auth/sms/send", `{"phone"}`, `{"sent","expiresIn","simulatorCode"}; 404 when the number is nobody’s.`, endpoint(p, p.smsSend)},
		{"POST /api/v1/auth/sms/login", `{"phone","code"}`, `{"accessToken","expiresIn","user"}, or {"mfaToken","mfaRequired"}; then it takes {"mfaToken","mfaCode"}.`, endpoint(p, p.smsLogin)},
		{"POST /api/v1/users/me/mfa/setup", "Bearer", `{"enabled":false,"secret","otpauthUrl","simulatorCode"}`, endpoint(p, p.mfaSetup)},
		{"POST /api/v1/users/me/mfa/enable", `Bearer, {"code"}`, `{"enabled":true}`, endpoint(p, p.mfaEnable)},
		{"POST /api/v1/users/me/mfa/disable", `Bearer, {"code"}`, `{"enabled":false}`, endpoint(p, p.mfaDisable)},
		{"GET /api/v1/webhooks/delivery-logs", "X-Api-Key or Bearer, ?product=&status=", `{"deliveries":[…]}, newest first; a status is pending, delivered or failed.`, endpoint(p, p.deliveryLogs)},
		{"POST /api/v1/subscriptions/{id}/pause", "X-Api-Key or Bearer", "The subscription; sends subscription.paused.", endpoint(p, p.pauseByID)},
		{"POST /api/v1/subscriptions/{id}/resume", "X-Api-Key or Bearer", "The subscription; sends subscription.resumed.", endpoint(p, p.resumeByID)},
		{"POST /api/v1/invoices", `X-Api-Key or Bearer, {"orderId","title"}`, "The invoice, which waits for approval in the console.", endpoint(p, p.invoices)},
		{"POST /api/v1/orders/{id}/refund", `X-Api-Key or Bearer, {"reason"}`, "The order, with the callbacks of its two payment channels.", endpoint(p, p.refunds)},
		{"GET /.well-known/jwks.json", "", "The key set of the tokens, RS256.", p.jwks},
	}
}

// simulatorRoutes are the simulator's own API.
func (p *Platform) simulatorRoutes() []route {
	return []route{
		{"GET /_sim/state", "", "Product (without secrets), tenants, users, faults, probes, orders, invoices.", endpoint(p, p.apiState)},
		{"GET /_sim/revision", "", `{"revision"}, a number that changes whenever anything does.`, endpoint(p, p.apiRevision)},
		{"POST /_sim/reset", "", "Forgets everything but product, schema script and keys.", endpoint(p, p.apiReset)},
		{"POST /_sim/tenants", `{"slug","name","plan","users":[{"id","email","name","phone"}]}`, "A tenant, without any event.", endpoint(p, p.apiTenant)},
		{"POST /_sim/subscribe", `{"slug","plan","name","email","signIn"}`, `{"delivery","user","url"}; sends subscription.created. url, with signIn: the callback address with a code.`, p.apiSubscribe},
		{"POST /_sim/pause", `{"slug"}`, "The delivery of subscription.paused.", p.apiChange(p.Pause)},
		{"POST /_sim/resume", `{"slug"}`, "The delivery of subscription.resumed.", p.apiChange(p.Resume)},
		{"POST /_sim/plan", `{"slug","plan"}`, "The delivery of subscription.updated.", endpoint(p, p.apiPlan)},
		{"POST /_sim/cancel", `{"slug"}`, "The delivery of tenant.cancelled.", p.apiChange(p.Cancel)},
		{"POST /_sim/users", `{"id","email","name","phone","tenant","mfa"}`, "Adds a user, or changes the one with this id.", endpoint(p, p.apiSaveUser)},
		{"POST /_sim/codes", `{"user"}`, `{"code"}, a one-time code without a browser.`, endpoint(p, p.apiCode)},
		{"POST /_sim/sign-in", `{"user"}`, `{"url"}; signs this browser in at the platform, and on to the product.`, p.apiSignIn},
		{"POST /_sim/sign-out", "", "Signs this browser out at the platform.", p.signOut},
		{"GET /_sim/exchanges", "", `{"exchanges":[…]}, every code that came to user-info, with the status of the answer.`, endpoint(p, p.apiExchanges)},
		{"POST /_sim/send", `{"eventType","tenant","body"}`, "A delivery of body as it is, or of a well-formed event about tenant.", endpoint(p, p.apiSend)},
		{"POST /_sim/resend", `{"id"}`, "Sends a delivery’s body once more.", endpoint(p, p.apiResend)},
		{"GET /_sim/deliveries", "?status=&tenant=", `{"deliveries":[…]}, newest first.`, endpoint(p, p.apiDeliveries)},
		{"GET /_sim/deliveries/{id}", "?wait=10s", "One delivery, at once or when its retries are over.", endpoint(p, p.apiDelivery)},
		{"GET /_sim/faults", "", "The faults that are on.", endpoint(p, p.apiFaults)},
		{"POST /_sim/faults", `{"userInfoDelay":"6s","userInfoStatus":500,…}`, "All faults at once, named as GET has them; what is left out is off, so {} mends everything.", endpoint(p, p.setFaults)},
		{"POST /_sim/faults/switch", `{"fault","on"}`, "One of the console’s switches.", endpoint(p, p.switchFault)},
		{"GET /_sim/probes", "", `{"probes":[…]}, oldest first.`, endpoint(p, p.apiProbes)},
		{"POST /_sim/probe", "", "Probes the health URL now.", endpoint(p, p.apiProbe)},
		{"POST /_sim/product", `{"slug","name","apiKey","webhookSecret","webhookUrl","callbackUrl","healthUrl"}`, "Changes the fields that are given.", endpoint(p, p.apiProduct)},
		{"POST /_sim/schema-script", `{"script","own"}`, "Fills the field and compares it with own, or with the product’s.", endpoint(p, p.apiScript)},
		{"POST /_sim/tokens", `{"user","flaw"}`, `{"token"}, RS256. flaw is empty, or expired, not-yet, wrong-issuer, wrong-audience, wrong-key, unknown-key, altered, alg-none or hs256.`, endpoint(p, p.apiToken)},
		{"POST /_sim/keys/rotate", "", "A new key signs from now on; the old ones stay published.", endpoint(p, p.apiRotate)},
		{"POST /_sim/keys/withdraw", "", "Unpublishes all keys but the signing one.", endpoint(p, p.apiWithdraw)},
		{"POST /_sim/invoices/approve", `{"id"}`, "The administration’s part of an invoice request.", endpoint(p, p.apiApprove)},
	}
}
