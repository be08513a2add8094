package browser_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"

	"example.com/subproduct/handlers/handlertest"
	"example.com/subproduct/handlers/handlertest/fixture"
)

// screenshots is where git does not look.
const screenshots = "../../../.dev/screenshots"

// Every page, wide and narrow, light and dark: to be looked at. That nothing
// needs to be scrolled sideways is checked.
func TestScreenshots(t *testing.T) {
	t.Parallel()
	if err := os.MkdirAll(screenshots, 0o755); err != nil {
		t.Fatal(err)
	}
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{})
	p := newPerson(t, site, "/nowhere")
	p.subscribe("acme")
	p.press("Items")
	for _, title := range []string{"Renew the lease of the warehouse", "Ask Ines about the March invoice"} {
		p.fill("label", title)
		p.press("Add")
		p.sees(title)
	}
	stranger := newPerson(t, site)
	console := site.Config.PlatformURL.String()
	for _, shot := range []struct {
		who           *person
		name, address string
	}{
		{stranger, "landing", site.URL + "/"}, {p, "home", site.URL + "/"}, {p, "notes", site.URL + "/items"},
		{p, "sessions", site.URL + "/sessions"}, {p, "error", site.URL + "/nowhere"},
		{p, "console", console + "/"}, {p, "console-deliveries", console + "/deliveries"}, {p, "console-health", console + "/health"},
		{p, "console-faults", console + "/faults"}, {p, "console-product", console + "/product"}, {p, "console-users", console + "/users"},
		{stranger, "platform-sign-in", console + "/auth/sso?appSlug=fixture&redirect=" + site.URL + "/sso/callback"},
	} {
		for _, width := range []int64{1280, 390} {
			for _, scheme := range []string{"light", "dark"} {
				shot.who.shoot(fmt.Sprintf("%s-%d-%s.png", shot.name, width, scheme), shot.address, width, scheme)
			}
		}
	}
}

func (p *person) shoot(name, address string, width int64, scheme string) {
	p.t.Helper()
	p.look(width, 860, scheme)
	p.open(address)
	picture, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
	p.check(err)
	if overflow := ask[float64](p, `document.documentElement.scrollWidth - innerWidth`); overflow > 0 {
		p.t.Errorf("%s is %v pixels too wide", name, overflow)
	}
	if err := os.WriteFile(filepath.Join(screenshots, name), picture, 0o600); err != nil {
		p.t.Fatal(err)
	}
}
