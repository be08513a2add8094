package conformance

import (
	"net/http"

	"example.com/subproduct/handlers/dev/simulator"
)

// rule is one row: what the contract asks for, and how it is looked at.
type rule struct {
	id, section string
	needs       string // rules without which this one means nothing
	asks        string
	check       func(*check) (seen string)
}

const (
	session             = "session-from-code"
	sessionAndHealth    = "session-from-code health"
	sessionAndCancelled = "session-from-code webhook-cancelled"
	createdAndHealth    = "webhook-created health"
)

// rules is the table, in the order of a run: what others need comes first, what
// looks back on the whole run last.
func rules() []rule {
	return []rule{
		{"health", "3, 4.2, 8", "", "The health URL answers 2xx within 5 seconds, without a redirect.", checkHealth},
		{"webhook-created", "6", "", "subscription.created is answered 2xx within 5 seconds.", checkCreated},
		{"session-from-code", "1 SSO 3–5, 4.2", "webhook-created", "A code at the callback address makes a session: the session path shows the user's e-mail address or id.", checkSession},
		{"login-redirect", "1 SSO 1, 4.1", "", "A browser without a session is sent to {platform_url}/auth/sso with appSlug and redirect, and no other parameter.", checkLoginRedirect},
		{"exchange-call", "1 SSO 4, 4.1, 5", "", "The server sends POST /api/v1/auth/sso/user-info with X-Api-Key, Content-Type application/json and a body of the code alone.", checkExchangeCall},
		{"platform-started", "1 SSO 6", session, "A browser that the platform sends by itself, without a visit of the login page, gets its session.", checkPlatformStarted},
		{"sign-in-before-event", "1 SSO 6, 6", "platform-started", "A user who comes before subscription.created gets a session; the event is accepted later and the session stays.", checkBeforeEvent},
		{"code-one-time", "2, 5", session, "The same callback address in another browser makes no session.", checkCodeOneTime},
		{"code-unknown", "1 SSO 4–5", session, "A code that the platform does not know makes no session.", visitMakesNoSession("?code=unknown-to-the-platform")},
		{"code-missing", "2", session, "The callback address without a code makes no session.", visitMakesNoSession("", "?code=")},
		{"user-info-error", "1 SSO 4–5", sessionAndHealth, "When user-info answers 500 there is no session, and the server stays healthy.", whileUserInfo(simulator.Faults{UserInfoStatus: http.StatusInternalServerError})},
		{"user-info-garbage", "1 SSO 4–5, 2", sessionAndHealth, "When user-info's answer is no JSON, has other types or is cut off, there is no session, and the server stays healthy.", whileUserInfo(
			simulator.Faults{UserInfoBody: simulator.BodyGarbage}, simulator.Faults{UserInfoBody: simulator.BodyNumbers}, simulator.Faults{UserInfoBody: simulator.BodyCut})},
		{"user-info-slow", "1 SSO 4–5", sessionAndHealth, "While user-info does not answer there is no session.", checkUserInfoSlow},
		{"health-while-user-info-hangs", "3, 8", sessionAndHealth, "The health URL answers in time while sign-ins wait for user-info.", checkHealthWhileHanging},
		{"status-not-allowed", "2, 3", session, "A user whose subscription is not Active (Paused, Cancelled) gets no session.", checkStatus},
		{"tenants-identity", "1 SSO 5", session, "Users of two tenants, asking at the same time, each see themselves.", checkIdentities},
		{"tenants-data", "1.3", session, "What a user of one tenant writes, a user of another never reads.", checkData},
		{"webhook-cancelled", "6", "webhook-created", "tenant.cancelled is answered 2xx within 5 seconds, also for a tenant that the product never heard of.", checkCancelled},
		{"raw-body", "5 rule 1", "webhook-created", "The signature is that of the raw bytes: odd spacing, escapes, Unicode, key order and a last line end are accepted.", checkRawBody},
		{"signature-missing", "5 rule 3, 7", sessionAndCancelled, "An event without a signature is answered 401 and not processed.", forged(noSignature)},
		{"signature-wrong", "5 rule 3, 7", sessionAndCancelled, "An event that was signed with another secret is answered 401 and not processed.", forged(otherSecret)},
		{"signature-of-another-body", "5 rule 3, 7", sessionAndCancelled, "The signature of another event is answered 401 and not processed.", forged(otherBody)},
		{"signature-upper-case", "5, 7", sessionAndCancelled, "A signature in upper case, which the platform does not send, is answered 401 and not processed.", forged(upperCase)},
		{"signature-reserialised", "5 rule 1, 7", sessionAndCancelled, "The signature of the same JSON in other bytes is answered 401 and not processed.", forged(reserialised)},
		{"signature-text", "5 rule 3", "", "The 401 carries a short plain text message, which does not give the right signature away.", checkRefusalText},
		{"webhook-unknown-type", "6", "webhook-created", "An event of a type that the product does not know is answered 2xx.", checkUnknownType},
		{"webhook-large", "6, 8", createdAndHealth, "A signed event of 900 KiB is answered 2xx or 413 in time.", checkLarge},
		{"webhook-broken-json", "5 rule 4", createdAndHealth, "A signed body that is no JSON is answered 4xx, and the server stays healthy.", declines(`{"eventType":"subscription.created","tenantSlug":`)},
		{"webhook-empty", "5 rule 4", createdAndHealth, "A signed empty body is answered 4xx, and the server stays healthy.", declines("")},
		{"webhook-odd-json", "5 rule 4", createdAndHealth, "Signed JSON that is no event, and a byte order mark before one, get an answer in time that is no 5xx.", checkOddJSON},
		{"webhook-cut-off", "5, 7", "session-from-code webhook-cancelled health", "An event whose connection ends half-way is not processed, and the server stays healthy.", checkCutOff},
		{"duplicate", "6 rule 2", session, "The same delivery again is answered 2xx and has no second effect.", checkDuplicate},
		{"duplicates-at-once", "6 rule 2", session, "Ten copies of a delivery at the same time are all answered 2xx in time, and the tenant works.", checkDuplicatesAtOnce},
		{"cancel-ends-sessions", "3, 6", sessionAndCancelled, "After tenant.cancelled the tenant's session is over at the next request.", checkCancelEnds},
		{"cancel-spares-others", "1.3, 6", sessionAndCancelled, "After tenant.cancelled another tenant's session goes on.", checkCancelSpares},
		{"cancel-redelivery", "6 rule 2", "cancel-ends-sessions", "The tenant's old subscription.created, delivered again after the cancellation, does not bring the session back.", checkCancelRedelivery},
		{"health-while-busy", "3, 8", createdAndHealth, "The health URL answers in time while webhooks are processed and pages are asked for.", checkHealthWhileBusy},
		{"exchange-once", "1 SSO 4, 2", "exchange-call", "A code is sent to user-info once for each visit of the callback address, also when the answer was an error, cut off or late.", checkExchangeOnce},
		{"secrets-kept", "5", "", "No answer of the run carries the API key or the webhook secret.", checkSecrets},
	}
}
