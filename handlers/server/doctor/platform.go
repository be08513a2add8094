package doctor

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"example.com/subproduct/handlers/platform"
)

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
