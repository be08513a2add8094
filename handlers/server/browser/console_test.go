package browser_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"example.com/subproduct/handlers/dev/simulator"
	"example.com/subproduct/handlers/handlertest"
	"example.com/subproduct/handlers/handlertest/fixture"
)

// Every button of the console, pressed once: the browser complains about
// nothing (newPerson), no page is an error page, and the product logs no error.
func TestConsole_EveryButton(t *testing.T) {
	t.Parallel()
	var log handlertest.Log
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{Log: &log})
	site.Subscribe(t, "acme")
	site.Platform.AddTenant("globex", "Globex", "Pro", simulator.User{ID: "u-globex", Email: "grace@globex.example"})
	p := newPerson(t, site, "/sso/callback") // a paused tenant's user is let in by the platform, and not by us
	pressed := map[string]bool{}
	for _, page := range []string{"/users", "/billing", "/health", "/deliveries", "/product", "/", "/faults"} {
		for p.pressNext(page, pressed) {
		}
	}
	if len(pressed) < 25 {
		t.Errorf("only %d buttons were found: %v", len(pressed), pressed)
	}
	if text := log.String(); strings.Contains(text, `"level":"ERROR"`) {
		t.Errorf("the product logged an error:\n%s", text)
	}
}

// pressNext opens the page, fills what has to be filled, and presses the first
// button that was not pressed yet; false when there is none.
func (p *person) pressNext(page string, pressed map[string]bool) bool {
	p.t.Helper()
	p.console(page)
	buttons := ask[[]string](p, `[...document.querySelectorAll("main button, header button")].map((b, i) => {
		b.dataset.number = i
		const what = b.id.startsWith("fault-") ? b.id : b.innerText.trim().split(" ")[0] // not whom it is about
		return i + " " + what + " of " + b.form.getAttribute("action")
	})`)
	for _, button := range buttons {
		number, name, _ := strings.Cut(button, " ")
		if pressed[name] {
			continue
		}
		pressed[name] = true
		selector := fmt.Sprintf(`document.querySelector('[data-number="%s"]')`, number)
		p.until(fmt.Sprintf(`(b => {
			b.closest("details")?.setAttribute("open", "")
			for (const f of b.form.querySelectorAll("[required]")) if (!f.value) f.value = f.type === "email" ? "x@x.example" : f.type === "tel" ? "+491234" : "x1"
			if (b.form.eventType) b.form.eventType.value = "invoice.paid"
			b.click()
			return true
		})(%s)`, selector))
		time.Sleep(150 * time.Millisecond) // some answers come by themselves, and none may be an error
		p.until(`document.readyState === "complete"`)
		if title := ask[string](p, `document.title`); strings.Contains(title, "Error") || strings.Contains(title, "wrong") {
			p.t.Errorf("%s on %s leads to %q", name, page, title)
		}
		return true
	}
	return false
}
