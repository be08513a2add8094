package simulator

import (
	"html"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"
)

// busyHarness is a harness with something to see on every page.
func busyHarness(t *testing.T) *harness {
	t.Helper()
	d := newHarness(t, nil)
	d.product.answer = func(n int, _ hook) int { return []int{200, 503, 200}[n%3] }
	d.AddTenant("odd", `<b>"Odd" & Co</b>`, "", User{Email: "o@odd.example", Phone: "1", MFA: true, MFASecret: newSecret()})
	for _, plan := range []string{"pro", "basic"} {
		if _, err := d.Subscribe(t.Context(), "globex", plan); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := d.Send(t.Context(), "<script>", []byte("</pre><script>alert(1)</script>\xff")); err != nil {
		t.Fatal(err)
	}
	d.Probe(t.Context())
	order := orderInput{Order: d.snapshot().Orders[0].ID, Title: "Acme"}
	if _, err := d.requestInvoice(nil, caller{product: true}, order); err != nil {
		t.Fatal(err)
	}
	if _, err := d.client().Exchange(t.Context(), d.code(t, "ada")); err != nil {
		t.Fatal(err)
	}
	d.SetFaults(Faults{UserInfoBody: BodyNumbers, DeliveryReorder: true})
	return d
}

func consolePages() []string {
	return []string{"/", "/deliveries", "/deliveries?status=failed&tenant=globex", "/users", "/health", "/faults", "/billing", "/product", "/docs"}
}

var (
	inline     = regexp.MustCompile(`(?i)<script>|<style|\sstyle=|\son\w+=|javascript:`)
	references = regexp.MustCompile(`(?:href|src)="([^"#]*)`)
	actions    = regexp.MustCompile(`action="([^"]*)"`)
	ids        = regexp.MustCompile(`\sid="([^"]*)"`)
)

func TestSimulator_EveryPageKeepsItsOwnRules(t *testing.T) {
	t.Parallel()
	d := busyHarness(t)
	b := browser(t)
	submit(t, b, d.url+"/_sim/sign-in", d.url+"/", url.Values{"user": {"ada"}})
	for _, path := range append(consolePages(), "/deliveries/"+d.Deliveries()[0].ID) {
		page, text := get(t, b, d.url+path)
		if page.StatusCode != http.StatusOK || !strings.HasPrefix(page.Header.Get("Content-Type"), "text/html") {
			t.Errorf("%s: %d %s", path, page.StatusCode, page.Header.Get("Content-Type"))
		}
		if csp := page.Header.Get("Content-Security-Policy"); !strings.HasPrefix(csp, "default-src 'none'; script-src 'self'; style-src 'self'") {
			t.Errorf("%s: policy %q", path, csp)
		}
		if bad := inline.FindString(text); bad != "" {
			t.Errorf("%s has %q, which the policy forbids or nobody escaped", path, bad)
		}
		seen := map[string]bool{}
		for _, m := range ids.FindAllStringSubmatch(text, -1) {
			if seen[m[1]] {
				t.Errorf("%s has the id %q twice", path, m[1])
			}
			seen[m[1]] = true
		}
		d.checkLeads(t, b, path, text)
	}
}

// checkLeads follows every link of a page, and looks whether forms lead to an
// address that takes them.
func (d *harness) checkLeads(t *testing.T, b *http.Client, path, text string) {
	t.Helper()
	at, err := url.Parse(d.url + path)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range references.FindAllStringSubmatch(text, -1) {
		to, err := at.Parse(html.UnescapeString(m[1]))
		if err != nil || to.Host != at.Host {
			t.Errorf("%s leads to %q", path, m[1])
			continue
		}
		if page, _ := get(t, b, to.String()); page.StatusCode != http.StatusOK {
			t.Errorf("%s leads to %s: %d", path, to, page.StatusCode)
		}
	}
	known := map[string]bool{}
	for _, r := range d.addresses()[2].Routes { // the simulator's own
		known[r.pattern] = true
	}
	for _, m := range actions.FindAllStringSubmatch(text, -1) {
		if !known["POST "+m[1]] {
			t.Errorf("%s has a form to %s, which is no address", path, m[1])
		}
	}
}

// Whoever opens the console may change the secrets, and never reads them.
func TestSimulator_ConsoleShowsNoSecrets(t *testing.T) {
	t.Parallel()
	d := busyHarness(t)
	for _, path := range append(consolePages(), "/_sim/state") {
		_, text := get(t, browser(t), d.url+path)
		if strings.Contains(text, testKey) || strings.Contains(text, testSecret) {
			t.Errorf("%s shows a secret", path)
		}
	}
	form := url.Values{"name": {"Renamed"}, "apiKey": {""}, "webhookSecret": {""}}
	submit(t, browser(t), d.url+"/_sim/product", d.url+"/product", form)
	if p := d.Product(); p.Name != "Renamed" || p.APIKey != testKey || p.WebhookSecret != testSecret {
		t.Errorf("saved without new secrets: %+v", p)
	}
	form.Set("webhookSecret", "another")
	submit(t, browser(t), d.url+"/_sim/product", d.url+"/product", form)
	if p := d.Product(); p.APIKey != testKey || p.WebhookSecret != "another" {
		t.Errorf("saved with a new one: %+v", p)
	}
}

func TestSimulator_FormLeadsBackToItsPage(t *testing.T) {
	t.Parallel()
	d := newHarness(t, nil)
	b := browser(t)
	for from, want := range map[string]string{
		d.url + "/deliveries?status=failed": "/deliveries?status=failed", "https://evil.example/x": "/", "": "/",
	} {
		if back := submit(t, b, d.url+"/_sim/probe", from, nil); back.StatusCode != http.StatusSeeOther || back.Header.Get("Location") != want {
			t.Errorf("from %q: %d to %q, want 303 to %q", from, back.StatusCode, back.Header.Get("Location"), want)
		}
	}
	if back := submit(t, b, d.url+"/_sim/pause", d.url+"/", url.Values{"slug": {"nobody"}}); back.StatusCode != http.StatusNotFound {
		t.Errorf("pausing nobody: %d, want a 404 page", back.StatusCode)
	}
	if back := submit(t, b, d.url+"/_sim/faults", d.url+"/faults", url.Values{"userInfoDelay": {"6s"}, "deliveryDrop": {"on"}, "deliveryBurst": {""}}); back.StatusCode != http.StatusSeeOther {
		t.Errorf("a faults form: %d", back.StatusCode)
	}
	if f := d.Faults(); !f.DeliveryDrop || f.UserInfoDelay != Delay(6*time.Second) || f.DeliveryBurst != 0 {
		t.Errorf("faults = %+v, want what the form said", f)
	}
}

func TestSimulator_LogIsPaged(t *testing.T) {
	t.Parallel()
	d := newHarness(t, nil)
	d.SetFaults(Faults{DeliveryDuplicates: pageSize})
	first := d.send(t, "a")
	_, text := get(t, browser(t), d.url+"/deliveries")
	if strings.Count(text, "<details id=") != pageSize || strings.Contains(text, `id="`+first.ID+`"`) {
		t.Errorf("the first page has %d deliveries, want the newest %d", strings.Count(text, "<details id="), pageSize)
	}
	older := submatch(t, regexp.MustCompile(`href="(\?[^"]*before=[^"]*)"`), text)
	_, text = get(t, browser(t), d.url+"/deliveries"+html.UnescapeString(older))
	if !strings.Contains(text, `id="`+first.ID+`"`) || strings.Count(text, "<details id=") != 1 {
		t.Errorf("the second page has %d deliveries, want the oldest one", strings.Count(text, "<details id="))
	}
}

func TestSimulator_READMEListsEveryAddress(t *testing.T) {
	t.Parallel()
	d := newHarness(t, nil)
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	want := "| address | takes | gives |\n| --- | --- | --- |\n"
	for _, g := range d.addresses() {
		for _, r := range g.Routes {
			takes := r.Takes
			if takes != "" {
				takes = "`" + takes + "`"
			}
			want += "| `" + r.pattern + "` | " + takes + " | " + r.Does + " |\n"
		}
	}
	if !strings.HasSuffix(string(readme), want) {
		t.Errorf("README.md is to end with\n%s", want)
	}
}

func TestSimulator_OnlyTheSimulatorsNamesAreAnswered(t *testing.T) {
	t.Parallel()
	d := newHarness(t, func(o *Options) { o.PublicURL = "https://sim.product.com:8443/" })
	for host, want := range map[string]int{
		"127.0.0.1:8090": 200, "[::1]:8090": 200, "localhost:8090": 200, "platform.localhost": 200,
		"simulator": 421, "host.docker.internal:8090": 421, "printer.local": 421, "x.test": 421, "x.example": 421, "localhost.evil.com": 421, "evillocalhost": 421,
		"sim.product.com:8443": 200, "evil.com": 421, "127.0.0.1.evil.com:8090": 421, "sim.product.com": 421,
	} {
		request, err := http.NewRequest(http.MethodGet, d.url+"/_sim/revision", nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Host = host
		response, err := http.DefaultTransport.RoundTrip(request)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != want {
			t.Errorf("host %s: %d, want %d", host, response.StatusCode, want)
		}
	}
}

func TestSimulator_UnknownAddressesAre404(t *testing.T) {
	t.Parallel()
	d := newHarness(t, nil)
	d.api(t, "GET", "/api/v1/nothing", "", 404)
	d.api(t, "GET", "/_sim/deliveries/dlv_0", "", 404)
	if page, _ := get(t, browser(t), d.url+"/deliveries/dlv_0"); page.StatusCode != http.StatusNotFound {
		t.Errorf("a delivery that is not there: %d", page.StatusCode)
	}
}
