package conformance

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"

	"example.com/subproduct/handlers/dev/simulator"
)

// walk is one run: the platform that it plays, and what it has made so far.
type walk struct {
	settings
	platform *simulator.Platform
	handler  http.Handler // the platform's
	run      string       // in every slug and user of this run, and in no other

	mu      sync.Mutex
	slugs   []string
	calls   []call         // of the platform's API, by the product's server
	leaks   []string       // paths whose answers carried a secret
	visited map[string]int // how often the callback address was visited with a code

	passed    map[string]bool
	members   map[string]*member
	cancelled *member // of the tenant that this run has cancelled
	shell     bool    // the session path answers 2xx to anybody
	noLogin   bool    // the login page does not answer, so it is not asked again
}

func newWalk(s settings, l net.Listener) (*walk, error) {
	if s.platformURL == "" {
		s.platformURL = simulator.Address(l)
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
	w := &walk{
		settings: s, platform: platform, run: strings.ToLower(rand.Text()[:8]),
		visited: map[string]int{}, passed: map[string]bool{}, members: map[string]*member{},
	}
	w.handler = w.noting(platform.Handler())
	return w, nil
}

// at is an address of the target.
func (s *settings) at(path string) string { return s.target.String() + path }

// reach fails when nothing at all answers, which is no verdict about a rule.
func (w *walk) reach(ctx context.Context) error {
	c := &check{w, ctx}
	err := try(func() { c.get(newBrowser(), c.at(c.healthPath)) })
	if err == nil || errors.Is(err, errNoAnswer) { // the rule health judges what is too slow
		return ctx.Err()
	}
	return fmt.Errorf(`nothing answers at %s: %w
Start the sub-product first, with PLATFORM_URL=%[3]s PLATFORM_BASE_URL=%[3]s
and the APP_SLUG, PLATFORM_API_KEY and WEBHOOK_SECRET that this command has`, w.target, err, w.platformURL)
}

// judgeAll judges every rule, in the order of the table.
func (w *walk) judgeAll(ctx context.Context) (results []Result) {
	c := &check{w, ctx}
	_ = try(func() { w.shell = c.get(newBrowser(), c.at(c.sessionPath)).ok() }) // no answer: no shell
	w.noLogin = errors.Is(try(func() { c.get(newBrowser(), c.at(c.loginPath)) }), errNoAnswer)
	for _, r := range rules() {
		result := c.judge(r)
		w.passed[r.id] = result.Verdict == Pass
		results = append(results, result)
	}
	return results
}

func (c *check) judge(r rule) Result {
	out := Result{Rule: r.id, Section: r.section, Verdict: Pass, asks: r.asks}
	err := try(func() {
		c.judgeable(r)
		out.Seen = r.check(c)
	})
	if err == nil {
		return out
	}
	if c.ctx.Err() != nil {
		err = skipped{"the time of a run was over"}
	}
	out.Verdict, out.Seen = Fail, err.Error()
	if errors.As(err, &skipped{}) {
		out.Verdict = Skip
	}
	return out
}

// judgeable skips a rule that nobody wants judged, or that means nothing
// without another that is broken.
func (c *check) judgeable(r rule) {
	if slices.Contains(c.skip, r.id) {
		skip("by --skip")
	}
	missing := slices.DeleteFunc(strings.Fields(r.needs), func(id string) bool { return c.passed[id] })
	if len(missing) > 0 {
		skip("cannot be judged without %s", strings.Join(missing, ", "))
	}
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
	c := &check{w, ctx}
	for _, slug := range w.slugs {
		if err := try(func() { c.deliver(c.event(cancelled, slug)) }); err != nil && ctx.Err() != nil {
			return
		}
	}
}
