package conformance_test

import (
	"errors"
	"io"
	"log"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"example.com/subproduct/handlers/dev/conformance"
	"example.com/subproduct/handlers/handlertest"
	"example.com/subproduct/handlers/handlertest/fixture"
)

// variant is our server with something broken: in front of it, where the
// platform's requests and the browsers' come in, or behind it, on its way to
// the platform's API.
type variant struct {
	name          string
	front, behind func(next http.Handler) http.Handler
	env           map[string]string
	broken        []string // the rules that must fail, and no others
}

// start runs the variant on the database of site and judges it.
func (v variant) start(t *testing.T, site *handlertest.Site) judged {
	l, platform := listen(t)
	base := platform
	if v.behind != nil {
		base = through(t, v.behind, platform).URL
	}
	proxy := httptest.NewUnstartedServer(nil) // its address comes first: the server must know it
	proxyURL := "http://" + proxy.Listener.Addr().String()
	t.Cleanup(proxy.Close)
	env := map[string]string{
		"PLATFORM_URL": platform, "PLATFORM_BASE_URL": base, "PUBLIC_URL": proxyURL,
		"DATABASE_MAX_CONNS": "6", // all variants share one PostgreSQL
	}
	maps.Copy(env, v.env)
	replica := site.Replica(t, fixture.Product(), handlertest.Setup{Env: env})
	proxy.Config.Handler = v.inFront(t, replica.URL)
	proxy.Start()
	return judge(t, l, proxyURL, "--skip", "user-info-slow") // which is five seconds of waiting
}

func (v variant) inFront(t *testing.T, target string) http.Handler {
	if v.front == nil {
		return forward(t, target)
	}
	return v.front(forward(t, target))
}

// through is a server that passes on to target what middleware lets by.
func through(t *testing.T, middleware func(http.Handler) http.Handler, target string) *httptest.Server {
	server := httptest.NewServer(middleware(forward(t, target)))
	t.Cleanup(server.Close)
	return server
}

func forward(t *testing.T, target string) *httputil.ReverseProxy {
	u, err := url.Parse(target)
	if err != nil {
		t.Error(err)
	}
	return &httputil.ReverseProxy{
		Rewrite:      func(r *httputil.ProxyRequest) { r.SetURL(u); r.Out.Host = r.In.Host },
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
		ErrorLog:     log.New(io.Discard, "", 0),
		Transport:    &http.Transport{DisableKeepAlives: true},
	}
}

// Whatever is broken is found by the rule that it breaks, and by no other.
func TestConformance_EachBreachIsFoundByItsRule(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{})
	var running sync.WaitGroup
	slots := make(chan struct{}, 4) // more than processors: a run also waits
	for _, v := range variants() {
		running.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			t.Run(v.name, func(t *testing.T) { v.check(t, site) })
		})
	}
	running.Wait()
}

func (v variant) check(t *testing.T, site *handlertest.Site) {
	j := v.start(t, site)
	got := j.verdicts(conformance.Fail)
	slices.Sort(v.broken)
	slices.Sort(got)
	if !slices.Equal(got, v.broken) || !errors.Is(j.err, conformance.ErrBroken) {
		t.Errorf("%v; broken are %s, want %s\n%s", j.err, got, v.broken, j.seen())
	}
}

// seen is what the rules that do not hold say.
func (j judged) seen() string {
	var lines []string
	for _, r := range j.results {
		if r.Verdict != conformance.Pass {
			lines = append(lines, "  "+r.Rule+": "+r.Verdict+" "+r.Seen)
		}
	}
	return strings.Join(lines, "\n")
}
