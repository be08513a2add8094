package conformance_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
)

func rewriteLogin(change func(url.Values)) middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/login" {
				next.ServeHTTP(w, r)
				return
			}
			rec := recorded(next, r)
			to, _ := url.Parse(rec.Header().Get("Location"))
			q := to.Query()
			change(q)
			to.RawQuery = q.Encode()
			rec.Header().Set("Location", to.String())
			pass(w, rec)
		})
	}
}

func onlyAskedFor(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := r.Cookie("login"); err != nil && r.URL.Path == "/sso/callback" {
			http.Error(w, "where do you come from?", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// oneNotebook keeps what all tenants write in one place.
func oneNotebook() middleware {
	var mu sync.Mutex
	var all []byte
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/api/items" {
				next.ServeHTTP(w, r)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			all = append(all, read(r)...)
			w.Write(all)
		})
	}
}

// exchange changes the server's calls of user-info.
func exchange(do func(w http.ResponseWriter, r *http.Request, body []byte, next http.Handler)) middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { do(w, r, read(r), next) })
	}
}

func again(r *http.Request, body []byte) *http.Request {
	second := r.Clone(r.Context())
	second.Body, second.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return second
}

func twice(next http.Handler) http.Handler {
	return exchange(func(w http.ResponseWriter, r *http.Request, body []byte, next http.Handler) {
		rec := recorded(next, again(r, body))
		_ = recorded(next, r)
		pass(w, rec)
	})(next)
}

func insistent(next http.Handler) http.Handler {
	return exchange(func(w http.ResponseWriter, r *http.Request, body []byte, next http.Handler) {
		rec := recorded(next, again(r, body))
		if rec.Code >= http.StatusInternalServerError {
			rec = recorded(next, r)
		}
		pass(w, rec)
	})(next)
}

func moreThanTheCode(next http.Handler) http.Handler {
	return exchange(func(w http.ResponseWriter, r *http.Request, body []byte, next http.Handler) {
		next.ServeHTTP(w, again(r, bytes.Replace(body, []byte("{"), []byte(`{"appSlug":"x",`), 1)))
	})(next)
}

// knowsAll makes a user of a code that the platform has never heard of.
func knowsAll(next http.Handler) http.Handler {
	return exchange(func(w http.ResponseWriter, r *http.Request, _ []byte, next http.Handler) {
		rec := recorded(next, r)
		if strings.Contains(rec.Body.String(), "code_unknown") {
			rec = httptest.NewRecorder()
			io.WriteString(rec, `{"userId":"guest","email":"guest@conformance.example","tenantSlug":"guests","planType":"Pro","subscriptionStatus":"Active"}`)
		}
		pass(w, rec)
	})(next)
}

// remembers answers a code that came before as it did the first time.
func remembers() middleware {
	var known sync.Map
	return exchange(func(w http.ResponseWriter, r *http.Request, body []byte, next http.Handler) {
		if first, ok := known.Load(string(body)); ok {
			pass(w, first.(*httptest.ResponseRecorder))
			return
		}
		rec := recorded(next, r)
		known.Store(string(body), rec)
		pass(w, rec)
	})
}
