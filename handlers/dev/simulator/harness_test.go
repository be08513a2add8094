package simulator

import (
	"context"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/subproduct/handlers/platform"
)

const (
	testKey    = "key-of-the-product"
	testSecret = "secret-of-the-product"
)

// harness is a simulator served over HTTP, with a small product beside it.
type harness struct {
	*Platform
	url     string
	product *receiver
	stop    func()
}

// newHarness starts both and, in the background, Run. change may adjust the
// options before, nil leaves them.
func newHarness(t *testing.T, change func(*Options)) *harness {
	t.Helper()
	d := &harness{product: newReceiver(t)}
	o := Options{
		Product: Product{
			Slug: "notes", Name: "Notes", APIKey: testKey, WebhookSecret: testSecret,
			WebhookURL: d.product.url + "/hook", CallbackURL: d.product.url + "/sso/callback", HealthURL: d.product.url + "/healthz",
		},
		RetryDelays:    []time.Duration{time.Millisecond, time.Millisecond, time.Millisecond},
		HealthInterval: -1,
	}
	if change != nil {
		change(&o)
	}
	var err error
	if d.Platform, err = New(o); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(d.Handler())
	t.Cleanup(server.Close)
	d.url = server.URL
	d.AddTenant("acme", "Acme", "pro", User{ID: "ada", Email: "ada@acme.example", Name: "Ada"})
	d.run(t)
	return d
}

// run starts Run; stop, or the test's end, ends it.
func (d *harness) run(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- d.Run(ctx) }()
	d.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
	t.Cleanup(d.stop)
}

// hook is what a product saw of one webhook request.
type hook struct {
	body, signature string
	broken          error // reading the body failed
}

// receiver is a product as small as the contract lets it be.
type receiver struct {
	url string

	mu     sync.Mutex
	hooks  []hook
	more   chan struct{}           // has something after each webhook
	answer func(n int, h hook) int // status for the n-th webhook, from 1; may block
	health func(w http.ResponseWriter)
}

func newReceiver(t *testing.T) *receiver {
	v := &receiver{more: make(chan struct{}, 1)}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /hook", v.hook)
	mux.HandleFunc("GET /healthz", v.healthz)
	mux.HandleFunc("GET /sso/callback", func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "callback "+r.URL.RawQuery) })
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	v.url = server.URL
	return v
}

func (v *receiver) hook(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	h := hook{body: string(body), signature: r.Header.Get(platform.SignatureHeader), broken: err}
	v.mu.Lock()
	v.hooks = append(v.hooks, h)
	n, answer := len(v.hooks), v.answer
	v.mu.Unlock()
	select {
	case v.more <- struct{}{}:
	default:
	}
	if !platform.Verify(testSecret, body, h.signature) {
		http.Error(w, "invalid signature", http.StatusUnauthorized)
		return
	}
	if answer != nil {
		w.WriteHeader(answer(n, h))
	}
	io.WriteString(w, "ok")
}

func (v *receiver) healthz(w http.ResponseWriter, _ *http.Request) {
	v.mu.Lock()
	health := v.health
	v.mu.Unlock()
	if health != nil {
		health(w)
	}
}

func (v *receiver) seen() []hook {
	v.mu.Lock()
	defer v.mu.Unlock()
	return append([]hook(nil), v.hooks...)
}

// browser keeps cookies and does not follow redirects.
func browser(t *testing.T) *http.Client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

func get(t *testing.T, client *http.Client, address string) (*http.Response, string) {
	t.Helper()
	response, err := client.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	return response, read(t, response)
}

func post(t *testing.T, client *http.Client, address string, form url.Values) (*http.Response, string) {
	t.Helper()
	response, err := client.PostForm(address, form)
	if err != nil {
		t.Fatal(err)
	}
	return response, read(t, response)
}

func read(t *testing.T, response *http.Response) string {
	t.Helper()
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// call is a server's request, as curl would make it.
func call(t *testing.T, method, address, body string, headers ...string) (int, string) {
	t.Helper()
	request, err := http.NewRequest(method, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, read(t, response)
}

// await is Await with a time limit of the test.
func (d *harness) await(t *testing.T, id string) Delivery {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	delivery, err := d.Await(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	return delivery
}
