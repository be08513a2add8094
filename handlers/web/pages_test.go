package web_test

import (
	"bytes"
	"errors"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/labstack/echo/v4"

	"example.com/subproduct/handlers/handlertest"
	"example.com/subproduct/handlers/handlertest/fixture"
	"example.com/subproduct/handlers/server"
	"example.com/subproduct/handlers/web"
)

// A page has the product's own functions and parts.
func TestPages_HaveFunctionsAndParts(t *testing.T) {
	t.Parallel()
	p := server.Product{Name: "Parts", Slug: "parts", Funcs: template.FuncMap{"shout": strings.ToUpper}}
	p.Templates = fstest.MapFS{
		"layout.html": {Data: []byte(`{{template "main" .}}`)},
		"_name.html":  {Data: []byte(`<b>{{shout .Data}}</b>{{.In "/a"}}{{.In "/a/b/c"}}{{.In "/a/bc"}}`)},
		"page.html":   {Data: []byte(`{{define "main"}}{{template "_name.html" .}}{{template "again" .}}{{end}}{{define "again"}}{{template "_name.html" .}}{{end}}`)},
	}
	p.Routes = func(r server.Routes) {
		r.Public.GET("/a/b", func(c echo.Context) error { return c.Render(http.StatusOK, "page.html", "x<y") })
		r.Public.GET("/part", func(c echo.Context) error { return c.Render(http.StatusOK, "_name.html", "x") })
	}
	site := handlertest.Start(t, p, handlertest.Setup{})
	part := "<b>X&lt;Y</b>truefalsefalse"
	if page := site.Browser(t).Get("/a/b"); page.Body != part+part {
		t.Errorf("%d %s", page.Status, page.Body)
	}
	if page := site.Browser(t).Get("/part"); page.Status != http.StatusInternalServerError {
		t.Errorf("a part is a page: %d", page.Status)
	}
}

// A message is shown once, to who caused it, as text; a cookie that was made up
// shows nothing else, and no site beside ours on https can set one.
func TestFlash_IsShownOnceAndAsText(t *testing.T) {
	t.Parallel()
	p := fixture.With(func(r server.Routes) {
		r.User.POST("/said", func(c echo.Context) error {
			web.Flash(c, "<b>Söd"+strings.Repeat("ü", 500))
			return c.Redirect(http.StatusSeeOther, "/items")
		})
	})
	site := handlertest.Start(t, p, handlertest.Setup{})
	b := site.SignIn(t, "acme")
	answer := b.Post("/said", nil)
	if cookie := answer.Cookie("flash"); cookie == nil || !cookie.HttpOnly || cookie.SameSite != http.SameSiteLaxMode || cookie.MaxAge < 1 {
		t.Fatalf("%d, cookie %v", answer.Status, cookie)
	}
	for _, want := range []bool{true, false} {
		page := b.Get("/items")
		if strings.Contains(page.Body, "&lt;b&gt;Södü") != want || strings.Contains(page.Body, "<b>S") || strings.Contains(page.Body, "\uFFFD") {
			t.Errorf("shown, want %v:\n%s", want, page.Body)
		}
	}
	for _, made := range []string{"***", "_____w", strings.Repeat("YWJj", 200)} {
		page := b.Do(http.MethodGet, "/items", nil, http.Header{"Cookie": {"flash=" + made + "; session=" + b.Token()}})
		if page.Status != http.StatusOK || strings.Contains(page.Body, `role="status"`) {
			t.Errorf("%.20s: %d %s", made, page.Status, page.Body)
		}
	}
	secure := handlertest.Start(t, fixture.With(func(r server.Routes) {
		r.Public.GET("/said", func(c echo.Context) error { web.Flash(c, "x"); return c.NoContent(http.StatusOK) })
	}), handlertest.Setup{Env: map[string]string{"PUBLIC_URL": "https://app.example"}})
	if cookie := secure.Browser(t).Get("/said").Cookie("__Host-flash"); cookie == nil || !cookie.Secure || cookie.Path != "/" || cookie.Domain != "" {
		t.Errorf("on https: %v", cookie)
	}
}

// An error of fields is 422 on a page and in a problem document, wherever it
// comes from.
func TestInvalid_NamesTheFields(t *testing.T) {
	t.Parallel()
	p := fixture.With(func(r server.Routes) {
		wrong := func(echo.Context) error { return fmt.Errorf("insert: %w", web.Invalid{"title": "No <b>."}) }
		r.Public.GET("/wrong", wrong)
		r.Public.GET("/api/wrong", wrong)
	})
	b := handlertest.Start(t, p, handlertest.Setup{}).Browser(t)
	var problem struct {
		Title  string
		Status int
		Fields map[string]string
	}
	answer := b.Get("/api/wrong")
	if answer.JSON(t, &problem); answer.Status != 422 || problem.Status != 422 || problem.Title != "Unprocessable Entity" || problem.Fields["title"] != "No <b>." {
		t.Errorf("%d %s", answer.Status, answer.Body)
	}
	if page := b.Get("/wrong"); page.Status != 422 || !strings.Contains(page.Body, "title: No &lt;b&gt;.") {
		t.Errorf("%d %s", page.Status, page.Body)
	}
}

// Uploads have limits of their own, for those who are signed in.
func TestUpload_HasLimitsOfItsOwn(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{})
	b := site.SignIn(t, "acme")
	for _, c := range []struct {
		path      string
		megabytes int
		want      int
	}{
		{"/api/large-upload", 20, http.StatusOK}, {"/api/large-upload", 26, http.StatusRequestEntityTooLarge}, {"/api/upload", 2, http.StatusRequestEntityTooLarge},
	} {
		file := handlertest.File{Field: "file", Name: "f", Content: strings.Repeat("x", c.megabytes<<20)}
		answer := b.PostMultipart(c.path, nil, file)
		if answer.Status != c.want || c.want == http.StatusOK && !strings.Contains(answer.Body, fmt.Sprint(c.megabytes<<20)) {
			t.Errorf("%d MB to %s: %d %s, want %d", c.megabytes, c.path, answer.Status, answer.Body, c.want)
		}
	}
	if answer := site.Browser(t).PostMultipart("/api/large-upload", nil, handlertest.File{Field: "file"}); answer.Status != http.StatusUnauthorized {
		t.Errorf("of a stranger: %d", answer.Status)
	}
}

// An upload too large for the memory goes to the disk, and leaves it with its
// request, whatever becomes of that.
func TestUpload_LeavesNoFileBehind(t *testing.T) {
	t.Parallel()
	paths := make(chan string, 1)
	site := handlertest.Start(t, fixture.With(func(r server.Routes) {
		r.Upload(40<<20, time.Minute).POST("/api/huge-upload", func(c echo.Context) error {
			header, err := c.FormFile("file")
			if err != nil {
				return err
			}
			file, err := header.Open()
			if err != nil {
				return err
			}
			defer file.Close()
			paths <- file.(*os.File).Name()
			panic("after the file was read")
		})
	}), handlertest.Setup{})
	site.SignIn(t, "acme").PostMultipart("/api/huge-upload", nil, handlertest.File{Field: "file", Name: "f", Content: strings.Repeat("x", 33<<20)})
	path := <-paths
	t.Cleanup(func() { os.Remove(path) })
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s after the answer: %v", path, err)
	}
}

// An upload that does not arrive in the time of its route is cut off then, and
// not when the connection's time is over; a stranger has the connection's.
func TestUpload_HasATimeOfItsOwn(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{})
	for _, c := range []struct {
		path, token, want string
		least, most       time.Duration
	}{
		{"/api/quick-upload", site.SignIn(t, "acme").Token(), "HTTP/1.1 4", 200 * time.Millisecond, 10 * time.Second},
		{"/api/large-upload", "nobody", "HTTP/1.1 401", 0, 30 * time.Second},
	} {
		t.Run(c.path, func(t *testing.T) {
			t.Parallel()
			conn, err := net.Dial("tcp", strings.TrimPrefix(site.URL, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			begun := time.Now()
			fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\nCookie: session=%s\r\n"+
				"Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 1000\r\n\r\n--b", c.path, c.token)
			if err := conn.SetReadDeadline(begun.Add(c.most)); err != nil {
				t.Fatal(err)
			}
			answer, err := io.ReadAll(conn)
			if took := time.Since(begun); err != nil || took < c.least || !bytes.HasPrefix(answer, []byte(c.want)) {
				t.Errorf("after %v: %v, %.200s", took, err, answer)
			}
		})
	}
}
