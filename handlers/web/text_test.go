package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"example.com/subproduct/handlers/handlertest"
	"example.com/subproduct/handlers/handlertest/fixture"
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
