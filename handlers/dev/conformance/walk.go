package conformance

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"example.com/subproduct/handlers/dev/simulator"
)

// walk is one run: the platform that it plays, and what it has made so far.
type walk struct {
	settings
	platform *simulator.Platform
	front    *front
	run      string // in every slug and user of this run, and in no other

	mu      sync.Mutex
	slugs   []string
	leaks   []string       // paths whose answers carried a secret
	visited map[string]int // how often the callback address was visited with a code

	noLogin atomic.Bool // the login page does not answer, so it is not asked again

	passed    map[string]bool
	members   map[string]*member
	cancelled *cancellation
	shell     bool // the session path answers 2xx to anybody
}

func newWalk(s settings, l net.Listener) (*walk, error) {
	if s.platformURL == "" {
		s.platformURL = address(l)
	}
	// No webhook address: the events of a run are made here, where their bytes
	// and signatures can be anything. The simulator only keeps the state.
	platform, err := simulator.New(simulator.Options{
		HealthInterval: -1,
		Product:        simulator.Product{Slug: s.appSlug, Name: s.appSlug, APIKey: s.apiKey, CallbackURL: s.at(s.callbackPath)},
	})
	if err != nil {
		return nil, err
	}
	return &walk{
		settings: s, platform: platform, front: &front{next: platform.Handler(), apiKey: s.apiKey},
		run: strings.ToLower(rand.Text()[:8]), visited: map[string]int{},
		passed: map[string]bool{}, members: map[string]*member{},
	}, nil
}

// address is how a product on this machine reaches a listener.
func address(l net.Listener) string {
	host, port, _ := net.SplitHostPort(l.Addr().String())
	if ip := net.ParseIP(host); ip == nil || ip.IsUnspecified() {
		host = "localhost"
	}
	return "http://" + net.JoinHostPort(host, port)
}

// at is an address of the target.
func (s *settings) at(path string) string { return s.target.String() + path }

// reach fails when nothing at all answers, which is no verdict about a rule.
func (w *walk) reach(ctx context.Context) error {
	_, err := w.stranger().get(ctx, w.at(w.healthPath))
	if err == nil || timedOut(err) { // too slow is the health rule's to say
		return ctx.Err()
	}
	return fmt.Errorf(`nothing answers at %s: %w
Start the sub-product first, with PLATFORM_URL=%[3]s PLATFORM_BASE_URL=%[3]s
and the APP_SLUG, PLATFORM_API_KEY and WEBHOOK_SECRET that this command has`, w.target, err, w.platformURL)
}

// all judges every rule, in the order of the table.
func (w *walk) all(ctx context.Context) []Result {
	anybody, err := w.stranger().get(ctx, w.at(w.sessionPath))
	w.shell = err == nil && anybody.ok()
	results := make([]Result, 0, len(rules()))
	for _, r := range rules() {
		seen, err := "", w.judgeable(r)
		if err == nil {
			seen, err = r.check(ctx, w)
		}
		if err != nil && ctx.Err() != nil {
			err = skipped{"the time of a run was over"}
		}
		result := judge(r, seen, err)
		w.passed[r.id] = result.Verdict == Pass
		results = append(results, result)
	}
	return results
}

// judgeable skips a rule that nobody wants judged, or that means nothing
// without another that is broken.
func (w *walk) judgeable(r rule) error {
	if slices.Contains(w.skip, r.id) {
		return skipped{"by --skip"}
	}
	missing := slices.DeleteFunc(strings.Fields(r.needs), func(id string) bool { return w.passed[id] })
	if len(missing) > 0 {
		return skipped{"cannot be judged without " + strings.Join(missing, ", ")}
	}
	return nil
}

// newTenant registers a tenant with one user at the platform; the product
// knows nothing of it yet.
func (w *walk) newTenant() simulator.User {
	w.mu.Lock()
	slug := fmt.Sprintf("cf%st%03d", w.run, len(w.slugs)+1)
	w.slugs = append(w.slugs, slug)
	w.mu.Unlock()
	user := simulator.User{ID: "u-" + slug, Email: "user@" + slug + ".example", Tenant: slug}
	w.platform.AddTenant(slug, "Conformance "+slug, "Pro", user)
	return user
}

// cleanUp cancels the tenants of this run, so that none stays active.
func (w *walk) cleanUp(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), answerLimit)
	defer cancel()
	for _, slug := range w.slugs {
		if _, err := w.deliver(ctx, w.event(cancelled, slug)); err != nil && ctx.Err() != nil {
			return
		}
	}
}

// stranger is a browser that has not been anywhere.
func (w *walk) stranger() *browser { return &browser{w: w, cookies: newJar()} }

// server is a client without cookies, as the platform's own server is.
var server = &http.Client{
	Transport:     &http.Transport{DisableKeepAlives: true},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}
