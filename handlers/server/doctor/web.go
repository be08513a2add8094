package doctor

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"example.com/subproduct/handlers/platform"
)

// answer is what somebody has said to a request.
type answer struct {
	status   int
	body     string
	location string
	date     string
}

// ask sends a request, as whoever calls an address does who follows no redirect.
func ask(ctx context.Context, method, address, body string, header http.Header) (answer, error) {
	request, err := http.NewRequestWithContext(ctx, method, address, strings.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	for name, values := range header {
		request.Header[name] = values
	}
	client := &http.Client{
		Transport:     &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	response, err := client.Do(request)
	if err != nil {
		return answer{}, err
	}
	defer response.Body.Close()
	content, err := io.ReadAll(io.LimitReader(response.Body, 4<<10))
	return answer{response.StatusCode, string(content), response.Header.Get("Location"), response.Header.Get("Date")}, err
}

// platform asks for nothing that the contract names: any answer will do. It
// neither sends the key nor spends a code.
func (d *Doctor) platform(ctx context.Context) []Line {
	a, err := ask(ctx, http.MethodGet, d.Config.PlatformBaseURL.String(), "", nil)
	if err != nil {
		return failure("this machine cannot reach it: "+err.Error(), "correct PLATFORM_BASE_URL, or let this machine out to it")
	}
	if a.status >= http.StatusInternalServerError {
		return warning(fmt.Sprintf("it answers %d", a.status), "ask the platform's operators; until then nobody can sign in")
	}
	return a.atTheTime()
}

// signInPage asks for where browsers are sent to sign in.
func (d *Doctor) signInPage(ctx context.Context) []Line {
	client := platform.NewClient(platform.Settings{PlatformURL: d.Config.PlatformURL.String(), AppSlug: d.Config.AppSlug})
	a, err := ask(ctx, http.MethodGet, client.LoginURL(d.Config.CallbackURL()), "", nil)
	if err != nil {
		return failure("this machine cannot reach it: "+err.Error(), "correct PLATFORM_URL; it may be right where browsers reach it and this machine does not")
	}
	if a.status >= http.StatusBadRequest {
		return warning(fmt.Sprintf("/auth/sso with this product's APP_SLUG and callback address is answered %d", a.status),
			"compare PLATFORM_URL, APP_SLUG and "+d.Config.CallbackURL()+" with what is registered at the platform")
	}
	return a.atTheTime()
}

// atTheTime compares the clock of who has answered.
func (a answer) atTheTime() []Line {
	theirs, err := http.ParseTime(a.date)
	if err != nil {
		return ok("it answers; it does not tell the time")
	}
	lines := clock(time.Until(theirs), nil)
	lines[0].Detail = "it answers, and " + lines[0].Detail
	return lines
}

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
