package simulator

import (
	"net/http"
)

// Handler serves everything: the contract's browser and server endpoints, the
// console at / and its API under /_sim/.
func (p *Platform) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /auth/sso", p.sso)
	mux.HandleFunc("POST /auth/sso", p.chooseUser)
	mux.HandleFunc("POST /api/v1/auth/sso/user-info", p.exchange)
	return http.NewCrossOriginProtection().Handler(p.secure(mux))
}

// secure sets the headers of a page that runs nothing but its own files. A
// sign-in form's answer is a redirect to the product, which form-action covers.
func (p *Platform) secure(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "+
			"img-src 'self'; base-uri 'none'; frame-ancestors 'none'")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r)
	})
}
