package webhook_test

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"example.com/subproduct/handlers/handlertest"
	"example.com/subproduct/handlers/handlertest/fixture"
	"example.com/subproduct/handlers/server"
	"example.com/subproduct/tenancy/inbox"
)

// plan is what the registry has.
func plan(t *testing.T, site *handlertest.Site, slug string) string {
	t.Helper()
	return handlertest.Query[string](t, site, `SELECT plan_type FROM public.tenants WHERE slug = $1`, slug)
}

func planned(name string) map[string]string { return map[string]string{"planType": name} }

// shown is what /api/me and a page say.
func shown(t *testing.T, b *handlertest.Browser) string {
	t.Helper()
	var me struct{ PlanType string }
	b.Get("/api/me").JSON(t, &me)
	if page := b.Get("/"); !strings.Contains(page.Body, me.PlanType+".</p>") {
		t.Errorf("/api/me says %s, the page %s", me.PlanType, page.Body)
	}
	return me.PlanType
}

// A plan is there with the subscription, and a change of it is seen by sessions
// that are there, without a sign-in.
func TestPlan_IsTheRegistrysAtOnce(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{})
	site.Subscribe(t, "acme", handlertest.Plan("Basic"))
	if got := plan(t, site, "acme"); got != "Basic" {
		t.Errorf("subscribed: %q", got)
	}
	b := site.SignIn(t, "acme")
	delivery, err := site.Platform.ChangePlan(t.Context(), "acme", "Team")
	if err != nil || delivery.Attempts[0].Status != http.StatusOK {
		t.Fatalf("%+v, %v", delivery.Attempts, err)
	}
	if got := shown(t, b); got != "Team" {
		t.Errorf("after the event: %s", got)
	}
	for _, again := range []string{"Pro", "Enterprise"} { // a tenant that is ready: one statement
		if answer := site.Event(t, "subscription.created", "acme", planned(again)); answer.Status != http.StatusOK || shown(t, b) != again {
			t.Errorf("subscribed again to %s: %d, %s", again, answer.Status, shown(t, b))
		}
	}
	for _, none := range []any{nil, map[string]any{"planType": 7}, planned("\x00")} {
		for _, event := range []string{"subscription.created", "subscription.updated"} {
			if answer := site.Event(t, event, "acme", none); answer.Status != http.StatusOK || plan(t, site, "acme") != "Enterprise" {
				t.Errorf("%s without a plan: %d, %s", event, answer.Status, plan(t, site, "acme"))
			}
		}
	}
	if got := status(t, site); strings.Contains(got, inbox.Ignored) {
		t.Errorf("stored as %s", got)
	}
}

// PLAN_EVENTS and PLAN_FIELDS say which events and where; a handler of the
// product has its effect with the plan, or neither has.
func TestPlan_ByTheSettingsAndWithTheProductsHandler(t *testing.T) {
	t.Parallel()
	p := fixture.Product()
	var broken atomic.Bool
	broken.Store(true)
	p.Events["item.suggested"] = inbox.Handler{Apply: func(ctx context.Context, tx pgx.Tx, _ inbox.Event) error {
		_, err := tx.Exec(ctx, `INSERT INTO items (label, created_by) VALUES ('changed', 'platform')`)
		if broken.Swap(false) {
			err = errors.New("not yet")
		}
		return err
	}}
	site := handlertest.Start(t, p, handlertest.Setup{Env: map[string]string{"PLAN_EVENTS": "item.suggested,other", "PLAN_FIELDS": "nowhere,data.tier"}})
	site.Subscribe(t, "acme")
	if got := plan(t, site, "acme"); got != "" {
		t.Errorf("PLAN_FIELDS does not name planType, and the plan is %q", got)
	}
	if answer := site.Event(t, "item.suggested", "acme", map[string]string{"tier": "Gold"}); answer.Status != http.StatusInternalServerError || plan(t, site, "acme") != "" {
		t.Errorf("the handler failed: %d, plan %q", answer.Status, plan(t, site, "acme"))
	}
	handlertest.Await(t, "both have happened", func() bool {
		return plan(t, site, "acme") == "Gold" && handlertest.TenantQuery[int](t, site, "acme", `SELECT count(*) FROM items`) == 1
	})
	if answer := site.Event(t, "subscription.updated", "acme", map[string]string{"tier": "Iron"}); answer.Status != http.StatusOK || plan(t, site, "acme") != "Gold" {
		t.Errorf("an event that is not named: %d, plan %q", answer.Status, plan(t, site, "acme"))
	}
}

// refusing is a product that applies no change of a plan while it is broken.
func refusing() (p server.Product, broken *atomic.Bool) {
	p, broken = fixture.Product(), new(atomic.Bool)
	broken.Store(true)
	p.Events["subscription.updated"] = inbox.Handler{Apply: func(context.Context, pgx.Tx, inbox.Event) error {
		if broken.Load() {
			return errors.New("not yet")
		}
		return nil
	}}
	return p, broken
}

// What was received before a sign-in is older than what that was told, however
// late it is applied.
func TestPlan_OfAnEventFromBeforeTheSignInIsLate(t *testing.T) {
	t.Parallel()
	p, broken := refusing()
	site := handlertest.Start(t, p, handlertest.Setup{})
	site.Subscribe(t, "acme", handlertest.Plan("Pro"))
	site.Event(t, "subscription.updated", "acme", planned("Basic"))
	b := site.SignIn(t, "acme") // Pro, says the platform
	broken.Store(false)
	handlertest.Await(t, "the event is done", func() bool { return status(t, site) == "done,done" })
	if got := shown(t, b); got != "Pro" {
		t.Errorf("%s, want the sign-in's", got)
	}
	if answer := site.Event(t, "subscription.updated", "acme", planned("Team")); answer.Status != http.StatusOK || shown(t, b) != "Team" {
		t.Errorf("a later event: %d, %s", answer.Status, shown(t, b))
	}
}

// A subscription.created does not wait for older events; when those are applied
// at last, they change nothing.
func TestPlan_OfAnEventFromBeforeTheSubscriptionIsLate(t *testing.T) {
	t.Parallel()
	p, broken := refusing()
	site := handlertest.Start(t, p, handlertest.Setup{})
	site.Subscribe(t, "acme", handlertest.Plan("Pro"))
	site.Event(t, "subscription.updated", "acme", planned("Basic"))
	site.Event(t, "subscription.created", "acme", planned("Team"))
	broken.Store(false)
	handlertest.Await(t, "all are done", func() bool { return status(t, site) == "done,done,done" })
	if got := plan(t, site, "acme"); got != "Team" {
		t.Errorf("%s, want the newest", got)
	}
}

// A sign-in that waited for an answer was told its plan before the event.
func TestPlan_OfASignInThatWaitedIsLate(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{})
	site.Subscribe(t, "evil", handlertest.Plan("Pro"))
	b := site.SignIn(t, "acme")
	page := b.Callback("u-evil")
	site.Event(t, "subscription.updated", "evil", planned("Team"))
	if answer := b.Post("/sso/switch", url.Values{"nonce": {page.Hidden("nonce")}}); answer.Status != http.StatusSeeOther || b.User() != "u-evil" {
		t.Fatalf("%d %s", answer.Status, answer.Body)
	}
	if got := shown(t, b); got != "Team" {
		t.Errorf("%s, want the event's", got)
	}
}
