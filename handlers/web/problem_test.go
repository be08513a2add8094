package web_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/labstack/echo/v4"

	"example.com/subproduct/handlers/handlertest"
	"example.com/subproduct/handlers/server"
	"example.com/subproduct/handlers/web"
)

// A body that is not taken is refused with a sentence, and in development with a
// cause that begins with what is wrong.
func TestProblem_SaysWhatIsWrongWithABody(t *testing.T) {
	t.Parallel()
	product := server.Product{Name: "Reader", Slug: "reader", Routes: func(r server.Routes) {
		r.Public.POST("/api/read", func(c echo.Context) error { _, err := web.ReadInput(c); return err })
	}}
	site := handlertest.Start(t, product, handlertest.Setup{Serve: server.Options{ShowCauses: true}})
	b := site.Browser(t)
	for _, c := range []struct {
		contentType   string
		status        int
		detail, cause string
	}{
		{"text/plain", http.StatusUnsupportedMediaType, "This address does not take a body of that type.", "code=415"},
		{"application/json", http.StatusBadRequest, "The request's body is not what is expected here.", "no JSON object"},
	} {
		got := b.Do(http.MethodPost, "/api/read", strings.NewReader("{"), http.Header{"Content-Type": {c.contentType}})
		var problem struct{ Detail, Cause string }
		got.JSON(t, &problem)
		if got.Status != c.status || problem.Detail != c.detail || !strings.HasPrefix(problem.Cause, c.cause) {
			t.Errorf("%s: %d %s", c.contentType, got.Status, got.Body)
		}
	}
}
