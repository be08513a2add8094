package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/labstack/echo/v4"

	"example.com/subproduct/handlers/handlertest"
	"example.com/subproduct/handlers/handlertest/fixture"
	"example.com/subproduct/handlers/server"
)

func TestText_ThatIsNotUTF8Is422(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{})
	b := site.SignIn(t, "acme")
	for name, answer := range map[string]handlertest.Answer{
		"form":      b.Post("/items", url.Values{"label": {"a\xffb"}}),
		"field":     b.Post("/items", url.Values{"label": {"a"}, "x\xff": {"b"}}),
		"JSON":      b.API(http.MethodPost, "/api/items", "{\"label\":\"a\xffb\"}"),
		"query":     b.Get("/items?x=%ff"),
		"multipart": b.PostMultipart("/items", url.Values{"label": {"a\xffb"}}),
	} {
		if answer.Status != http.StatusUnprocessableEntity {
			t.Errorf("%s: %d %s", name, answer.Status, answer.Body)
		}
	}
	if answer := b.API(http.MethodPost, "/api/items", `{"label":"ä�"}`); answer.Status != http.StatusCreated {
		t.Errorf("good text: %d %s", answer.Status, answer.Body)
	}
}

// A parameter of the path is the same text however it is escaped.
func TestText_InAPath(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.With(func(r server.Routes) {
		r.User.GET("/api/text/:text", func(c echo.Context) error { return c.String(http.StatusOK, c.Param("text")) })
		r.User.GET("/api/rest/*", func(c echo.Context) error { return c.String(http.StatusOK, c.Param("*")) })
	}), handlertest.Setup{})
	b := site.SignIn(t, "acme")
	for path, want := range map[string]string{
		"text/caf%C3%A9": "café", "text/caf%c3%a9": "café", "text/caf\u00e9": "café", "text/%63af%C3%A9": "café", "text/a%2Fb": "a/b", "text/a%2fb": "a/b",
		"text/a%20b": "a b", "text/a+b": "a+b", "text/a%2Bb": "a+b", "text/100%25": "100%", "text/%2541": "%41", "text/%2541%2F": "%41/", "rest/a%2Fb/%c3%a9": "a/b/é",
	} {
		if answer := b.Get("/api/" + path); answer.Body != want {
			t.Errorf("%s: %d %q, want %q", path, answer.Status, answer.Body, want)
		}
	}
	for _, path := range []string{"text/%FF", "text/%ff", "text/a%2F%ff", "text/%00", "text/a%2F%00", "text/%ed%a0%80", "rest/a/%00"} {
		if answer := b.Get("/api/" + path); answer.Status != http.StatusUnprocessableEntity {
			t.Errorf("%s: %d %q, want 422", path, answer.Status, answer.Body)
		}
	}
}

func TestUploads_ThatAreNoneAreTheClientsFault(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{})
	b := site.SignIn(t, "acme")
	if answer := b.PostMultipart("/api/upload", nil, handlertest.File{Field: "file", Name: "a.txt", Content: "abc"}); answer.Body != `{"name":"a.txt","size":3}`+"\n" {
		t.Errorf("a file: %d %s", answer.Status, answer.Body)
	}
	for name, c := range map[string]struct {
		contentType, body string
		want              int
	}{
		"a form":        {"application/x-www-form-urlencoded", "file=x", http.StatusUnsupportedMediaType},
		"JSON":          {"application/json", "{}", http.StatusUnsupportedMediaType},
		"no boundary":   {"multipart/form-data", "x", http.StatusBadRequest},
		"cut off":       {"multipart/form-data; boundary=b", "--b\r\nContent-Disp", http.StatusBadRequest},
		"no file in it": {"multipart/form-data; boundary=b", "--b\r\nContent-Disposition: form-data; name=\"x\"\r\n\r\ny\r\n--b--", http.StatusUnprocessableEntity},
		"no body":       {"", "", http.StatusUnsupportedMediaType},
	} {
		answer := b.Do(http.MethodPost, "/api/upload", strings.NewReader(c.body), http.Header{"Content-Type": {c.contentType}})
		if answer.Status != c.want {
			t.Errorf("%s: %d %s, want %d", name, answer.Status, answer.Body, c.want)
		}
	}
}
