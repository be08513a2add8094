package browser_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"example.com/subproduct/handlers/dev/simulator"
	"example.com/subproduct/handlers/handlertest"
	"example.com/subproduct/handlers/handlertest/fixture"
)

// subscribe creates a subscription at the console, which signs the new user in.
func (p *person) subscribe(slug string) {
	p.t.Helper()
	p.console("/")
	p.fill("slug", slug)
	p.fill("email", "owner@"+slug+".example")
	p.click("#subscribe button")
	p.at(p.site.URL + "/")
	p.sees("owner@" + slug + ".example")
}

// The whole life of a tenant, clicked through.
func TestBrowser_TheLifeOfATenant(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{})
	ada, grace := newPerson(t, site, "/sso/callback"), newPerson(t, site)
	ada.subscribe("acme")
	ada.press("Items")
	ada.fill("label", "Only for Acme")
	ada.press("Add")
	ada.sees("Only for Acme")

	grace.subscribe("globex")
	grace.press("Items")
	grace.sees("Nothing here yet")
	grace.doesNotSee("Only for Acme")

	admin := newPerson(t, site)
	admin.console("/")
	admin.click("#pause-acme")
	admin.sees("Paused")
	admin.click("#resume-acme")
	admin.there("#pause-acme")
	admin.click("#cancel-acme")
	admin.there("#renew-acme") // the platform has cancelled, and sends the event
	handlertest.Await(t, "the cancellation has arrived", func() bool {
		return handlertest.Query[string](t, site, `SELECT status FROM public.tenants WHERE slug = 'acme'`) == "cancelled"
	})

	ada.open(site.URL + "/items") // her session is dead, the platform lets her in, and we do not
	ada.sees("Cancelled")
	ada.open(site.URL + "/")
	ada.sees("Sign in")
	grace.open(site.URL + "/items")
	grace.sees("Nothing here yet")
}

func TestBrowser_SigningInAndOut(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{})
	site.Subscribe(t, "acme")
	p := newPerson(t, site)
	p.open(site.URL + "/items")
	p.click(".person")
	p.at(site.URL + "/items")
	p.press("Where you are signed in")
	p.sees("on Linux")
	p.press("Sign out")
	p.at(site.URL + "/")
	p.sees("Sign in")
	// What one saw before was not kept: going back asks the server, which asks
	// the platform. There one is signed in still, so that is ended first.
	p.do(command(network.ClearBrowserCookies, cdp.Empty{}), chromedp.NavigateBack())
	p.there(".person")
}

func TestBrowser_TheWorkspaceIsBeingPrepared(t *testing.T) {
	t.Parallel()
	slow := fstest.MapFS{"000001_items.up.sql": {Data: []byte("SELECT pg_sleep(4); CREATE TABLE items (id bigint, label text, created_at timestamptz)")}}
	site := handlertest.Start(t, fixture.Migrating(slow), handlertest.Setup{})
	site.Platform.AddTenant("acme", "Acme", "Pro", simulator.User{ID: "u-acme", Email: "ada@acme.example"})
	p := newPerson(t, site)
	p.open(site.URL + "/items")
	p.click(".person")
	p.sees("Preparing")
	p.at(site.URL + "/items") // by itself
	p.sees("Nothing here yet")
}

func TestBrowser_SomebodyElsesSignInIsAskedAbout(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{})
	site.Subscribe(t, "acme")
	p := newPerson(t, site)
	p.subscribe("globex")
	code, err := site.Platform.IssueCode("u-acme")
	if err != nil {
		t.Fatal(err)
	}
	p.open(site.URL + "/sso/callback?code=" + code)
	p.sees("user@acme.example")
	p.sees("owner@globex.example")
	p.click(`form[action="/sso/switch"] button`)
	p.at(site.URL + "/")
	p.sees("user@acme.example")
}

func TestBrowser_ErrorPages(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{})
	p := newPerson(t, site, "/nowhere", "/sso/callback", "/favicon.ico")
	p.open(site.URL + "/nowhere")
	p.sees("There is nothing at this address.")
	p.open(site.URL + "/sso/callback?code=made-up")
	p.sees("That sign-in has expired")
	p.press("Sign in again")
	p.sees("Or by phone")
}

// Everything can be done with the keyboard alone.
func TestBrowser_KeyboardOnly(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{})
	site.Subscribe(t, "acme")
	p := newPerson(t, site)
	p.open(site.URL + "/")
	p.tabTo("Sign in")
	p.do(chromedp.KeyEvent(kb.Enter))
	p.there(".person")
	p.tabTo("u-acme")
	p.do(chromedp.KeyEvent(kb.Enter))
	p.at(site.URL + "/")
	p.tabTo("Items")
	p.do(chromedp.KeyEvent(kb.Enter))
	p.at(site.URL + "/items")
	p.tabTo("label")
	p.do(chromedp.KeyEvent("By keyboard"), chromedp.KeyEvent(kb.Enter))
	p.sees("By keyboard")
	p.tabTo("Delete")
	p.do(chromedp.KeyEvent(kb.Enter))
	p.sees("Nothing here yet")
}

// tabTo presses Tab until what has the focus, and shows it, has this text, id or
// value.
func (p *person) tabTo(what string) {
	p.t.Helper()
	for range 40 {
		p.do(chromedp.KeyEvent(kb.Tab))
		// A page that is still being built has its body focused, whose text is
		// all there is.
		focused := ask[string](p, `(e => e === document.body ? "" : [e.innerText, e.id, e.value].filter(Boolean).join(" "))(document.activeElement)`)
		visible := ask[bool](p, `(s => s.outlineStyle !== "none" && s.outlineWidth !== "0px")(getComputedStyle(document.activeElement))`)
		if strings.Contains(focused, what) {
			if !visible {
				p.t.Errorf("the focus on %q cannot be seen", what)
			}
			return
		}
	}
	p.t.Fatalf("Tab never comes to %q", what)
}
