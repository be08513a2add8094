package web_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/labstack/echo/v4"

	"example.com/subproduct/handlers/web"
)

// bill is what two people change.
type bill struct {
	Title string    `json:"title"`
	Text  string    `json:"text"`
	Paid  bool      `json:"paid"`
	Due   *string   `json:"due"`
	At    time.Time `json:"at"`
}

// formShown keeps the form that a page is given.
type formShown struct{ web.Form }

func (s *formShown) Render(_ io.Writer, _ string, data any, _ echo.Context) error {
	s.Form, _ = data.(web.Form)
	return nil
}

// save sends a form and returns what it is answered: the status, and the form
// that is shown again.
func save(t *testing.T, sent url.Values, current bill) (status int, shown web.Form) {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(sent.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	e, page, recorder := echo.New(), &formShown{}, httptest.NewRecorder()
	e.Renderer = page
	c := e.NewContext(r, recorder)
	in, err := web.ReadInput(c)
	if err != nil {
		t.Fatal(err)
	}
	if err := web.IfMatch(c, current); err == nil {
		return http.StatusSeeOther, shown
	} else if err := in.Again(c, "bill_form.html", err); err != nil {
		t.Fatal(err)
	}
	return recorder.Code, page.Form
}

// A form of what was changed meanwhile comes back as it was typed, with what
// there is now at each field that is another, and can be saved for that.
func TestForm_ChangedMeanwhile(t *testing.T) {
	t.Parallel()
	at := time.Date(2027, 1, 31, 14, 5, 0, 0, time.FixedZone("", 3600))
	was := bill{Title: "a", Text: "1\n2", At: at}
	now := bill{Title: "b", Text: "1\n2", Paid: true, At: at}
	sent := url.Values{"if-match": {web.FormOf(1, nil).For(was).Version}, "title": {"c"}, "text": {"1\r\n2"}, "due": {"2027-02-28"}, "at": {"2027-01-31T13:05:00"}}
	status, shown := save(t, sent, now)
	if want := (web.Invalid{"title": "Now: b", "paid": "Now: yes", "due": "Now: empty"}); status != http.StatusConflict || !shown.Changed ||
		shown.Values["title"] != "c" || !reflect.DeepEqual(shown.Errors, want) {
		t.Errorf("%d %+v", status, shown)
	}
	sent.Set("if-match", shown.Version)
	if status, _ := save(t, sent, now); status != http.StatusSeeOther {
		t.Errorf("saved again: %d", status)
	}
	sent.Del("if-match")
	if status, _ := save(t, sent, now); status != http.StatusSeeOther {
		t.Errorf("without a version: %d", status)
	}
}
