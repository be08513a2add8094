package doctor

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"example.com/subproduct/handlers/platform"
)

const leadHere = "have PUBLIC_URL, and the proxy behind it, lead to this product's server, unchanged paths and methods included"

// public asks for a path below PUBLIC_URL.
func (d *Doctor) public(ctx context.Context, method, path, body string, header http.Header) (a answer, wrong []Line) {
	a, err := ask(ctx, method, d.Config.PublicURL.JoinPath(path).String(), body, header)
	switch {
	case err != nil:
		return a, failure("it cannot be reached from here: "+err.Error(), "start the server, or "+leadHere)
	case a.status/100 == 3:
		return a, failure(fmt.Sprintf("it redirects (%d) to %s", a.status, a.location), "set PUBLIC_URL to the address that is not redirected")
	}
	return a, nil
}

func (d *Doctor) healthAddress(ctx context.Context) []Line {
	a, wrong := d.public(ctx, http.MethodGet, "/healthz", "", nil)
	var health struct{ Status, Time string }
	switch {
	case wrong != nil:
		return wrong
	case json.Unmarshal([]byte(a.body), &health) != nil || health.Status == "" || health.Time == "":
		return failure(fmt.Sprintf("the answer (%d) is not this product's", a.status), leadHere)
	case a.status != http.StatusOK:
		return failure(fmt.Sprintf("the server there is %q (%d)", health.Status, a.status), "see its log, and the lines on the database")
	}
	return ok("the server there is healthy")
}

// callbackAddress asks without a code, which this product answers in its own way.
func (d *Doctor) callbackAddress(ctx context.Context) []Line {
	a, wrong := d.public(ctx, http.MethodGet, "/sso/callback", "", nil)
	if wrong == nil && a.status != http.StatusBadRequest {
		wrong = failure(fmt.Sprintf("without a code it answers %d, this product answers 400", a.status), leadHere)
	}
	if wrong != nil {
		return wrong
	}
	return ok(d.Config.CallbackURL() + " leads to this product; register it at the platform")
}

// webhookAddress sends what is no event, without and with a signature. A server
// that knows our secret tells them apart, and keeps neither.
func (d *Doctor) webhookAddress(ctx context.Context) []Line {
	const path, noEvent = "/webhooks/platform", `{}`
	a, wrong := d.public(ctx, http.MethodPost, path, noEvent, nil)
	if wrong == nil && a.status != http.StatusUnauthorized {
		wrong = failure(fmt.Sprintf("without a signature it answers %d, this product answers 401", a.status), leadHere)
	}
	if wrong != nil {
		return wrong
	}
	signed := http.Header{platform.SignatureHeader: {platform.Sign(d.Config.WebhookSecret.Reveal(), []byte(noEvent))}}
	a, wrong = d.public(ctx, http.MethodPost, path, noEvent, signed)
	if wrong == nil && a.status != http.StatusBadRequest {
		wrong = failure(fmt.Sprintf("what WEBHOOK_SECRET signs is answered %d, this product answers 400", a.status),
			"restart the server there on these settings, or "+leadHere)
	}
	if wrong != nil {
		return wrong
	}
	return ok(d.Config.PublicURL.JoinPath(path).String() + " leads to this product; register it at the platform")
}
