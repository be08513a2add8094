// Package browser_test drives the pages and the platform's console in a real
// Chromium, as a person would.
package browser_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"example.com/subproduct/handlers/handlertest"
)

// chromium is the one browser of this process; it ends with it.
var (
	chromium     = sync.OnceValues(launch)
	stopChromium = func() {}
)

func TestMain(m *testing.M) {
	code := m.Run()
	stopChromium()
	os.Exit(code)
}

func launch() (context.Context, error) {
	var program string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			program = path
			break
		}
	}
	if program == "" {
		return nil, exec.ErrNotFound
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.NoSandbox,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-gpu", true),
		chromedp.Flag("disable-dev-shm-usage", true), chromedp.WSURLReadTimeout(time.Minute))
	ctx, stopAllocator := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, stop := chromedp.NewContext(ctx)
	stopChromium = func() { stop(); stopAllocator() }
	return ctx, chromedp.Do(ctx)
}

// person is somebody at a browser of their own: no cookies of anybody else.
// Whatever the browser complains about, and any request that leaves the site
// and its platform, fails the test.
type person struct {
	t    *testing.T
	ctx  context.Context
	site *handlertest.Site
	// failing are parts of addresses that are meant to answer with an error,
	// which a browser notes in its console.
	failing []string
}

const stepTimeout = 30 * time.Second

func newPerson(t *testing.T, site *handlertest.Site, failing ...string) *person {
	t.Helper()
	browser, err := chromium()
	if errors.Is(err, exec.ErrNotFound) {
		if os.Getenv("CI") != "" {
			t.Fatal("no Chromium is installed, and these tests must run here")
		}
		t.Skip("no Chromium is installed: apt install chromium")
	}
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := chromedp.NewContext(browser, chromedp.WithNewBrowserContext())
	t.Cleanup(cancel)
	p := &person{t: t, ctx: ctx, site: site, failing: failing}
	if err := chromedp.Listen(ctx, p.watch); err != nil {
		t.Fatal(err)
	}
	p.do(
		command(network.Enable, network.EnableParams{}),
		command(log.Enable, cdp.Empty{}),
		command(runtime.Enable, cdp.Empty{}),
	)
	p.look(1280, 900, "light")
	return p
}

// watch hears everything that the browser says.
func (p *person) watch(event any) {
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		p.t.Errorf("exception: %s", e.ExceptionDetails.Text)
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeWarning {
			p.t.Errorf("console: %s %v", e.Type, e.Args)
		}
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError && !p.expected(e.Entry.URL) {
			p.t.Errorf("log: %s: %s %s", e.Entry.Source, e.Entry.Text, e.Entry.URL)
		}
	case *network.EventRequestWillBeSent:
		if host := hostOf(e.Request.URL); host != "" && host != hostOf(p.site.URL) && host != p.site.Config.PlatformURL.Host {
			p.t.Errorf("a request to another host: %s", e.Request.URL)
		}
	}
}

func (p *person) expected(address string) bool {
	for _, part := range p.failing {
		if strings.Contains(address, part) {
			return true
		}
	}
	return false
}

func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme == "data" || u.Scheme == "about" {
		return ""
	}
	return u.Host
}

// command is one of the browser's own.
func command[P, R any](c cdp.Command[P, R], params P) step {
	return chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, c, params)
		return err
	})
}

type step = chromedp.Action[chromedp.Void]

// do takes steps, in at most stepTimeout.
func (p *person) do(steps ...step) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, stepTimeout)
	defer cancel()
	p.check(chromedp.Do(ctx, steps...))
}

// check fails the test with what the person saw.
func (p *person) check(err error) {
	p.t.Helper()
	if err == nil {
		return
	}
	at, _ := chromedp.Run(p.ctx, chromedp.Location())
	text, _ := chromedp.Run(p.ctx, chromedp.Evaluate[string](`document.body ? document.body.innerText : ""`))
	p.t.Fatalf("%v\nat %s:\n%s", err, at, text)
}

// ask evaluates JavaScript in the page.
func ask[T any](p *person, expression string) T {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, stepTimeout)
	defer cancel()
	value, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression))
	p.check(err)
	return value
}

// until waits until the expression is true in the page, whichever page that is
// by then.
func (p *person) until(expression string) {
	p.t.Helper()
	for deadline := time.Now().Add(stepTimeout); ; time.Sleep(20 * time.Millisecond) {
		ctx, cancel := context.WithTimeout(p.ctx, stepTimeout)
		ok, err := chromedp.Run(ctx, chromedp.Evaluate[bool](expression))
		cancel()
		if err == nil && ok {
			return
		}
		if time.Now().After(deadline) {
			p.check(errors.Join(fmt.Errorf("waited in vain until %s", expression), err))
		}
	}
}

// look sets the window and the system's colours.
func (p *person) look(width, height int64, scheme string) {
	p.t.Helper()
	p.do(chromedp.EmulateViewport(width, height), command(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}))
}

func (p *person) open(address string) { p.t.Helper(); p.do(chromedp.Navigate(address)) }

// console opens a page of the platform's console.
func (p *person) console(path string) {
	p.t.Helper()
	p.open(p.site.Config.PlatformURL.String() + path)
}

// sees waits until the page shows the text.
func (p *person) sees(text string) {
	p.t.Helper()
	p.until(fmt.Sprintf(`!!document.body && document.body.innerText.includes(%q)`, text))
}

func (p *person) doesNotSee(text string) {
	p.t.Helper()
	if ask[bool](p, fmt.Sprintf(`document.body.innerText.includes(%q)`, text)) {
		p.t.Errorf("the page shows %q", text)
	}
}

// press clicks the first visible button or link with this text.
func (p *person) press(text string) {
	p.t.Helper()
	xpath := fmt.Sprintf(`//*[self::button or self::a][normalize-space()=%q]`, text)
	p.do(chromedp.Click(chromedp.Search(xpath), chromedp.NodeVisible))
}

// click clicks what the CSS selector finds.
func (p *person) click(selector string) {
	p.t.Helper()
	p.do(chromedp.Click(chromedp.CSS(selector), chromedp.NodeVisible))
}

// fill types into the field with this id.
func (p *person) fill(id, text string) {
	p.t.Helper()
	field := chromedp.CSS("#" + id)
	p.do(chromedp.WaitVisible(field), chromedp.Clear(field), chromedp.SendKeys(field, text))
}

// at waits until the address is this.
func (p *person) at(address string) {
	p.t.Helper()
	p.until(fmt.Sprintf(`location.href === %q`, address))
}

// there waits until the CSS selector finds something.
func (p *person) there(selector string) {
	p.t.Helper()
	p.until(fmt.Sprintf(`!!document.querySelector(%q) && document.readyState === "complete"`, selector))
}
