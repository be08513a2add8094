package web_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/labstack/echo/v4"

	"example.com/subproduct/handlers/web"
)

// everything is a thing with a field of each kind.
type everything struct {
	Text, Remark, Amount, Day, Ref string
	Count                          int64
	Paid                           bool
	At                             time.Time
	Due                            *string
}

func (e *everything) read(in *web.Input) error {
	in.Text(&e.Text, "text", 5)
	in.OptionalText(&e.Remark, "remark", 5)
	in.Int(&e.Count, "count")
	in.Numeric(&e.Amount, "amount")
	in.Bool(&e.Paid, "paid")
	in.Date(&e.Day, "day")
	in.Time(&e.At, "at")
	in.UUID(&e.Ref, "ref")
	web.Optional(in, &e.Due, "due", in.Date)
	return in.Err()
}

func input(t *testing.T, method, contentType, body string) (*web.Input, error) {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, "/", strings.NewReader(body))
	r.Header.Set("Content-Type", contentType)
	return web.ReadInput(echo.New().NewContext(r, httptest.NewRecorder()))
}

const jsonType = "application/json"

// A change of one field takes it over, or names it; all others stay.
func TestInput_OneFieldOfAChange(t *testing.T) {
	t.Parallel()
	day := "2027-01-31"
	was := everything{Text: "a", Remark: "r", Amount: "1", Day: day, Ref: "x", Count: 1, Paid: true, Due: &day}
	for body, want := range map[string]func(*everything){
		`{}`:                                             func(*everything) {},
		`{"text":" äöüßé\t"}`:                            func(e *everything) { e.Text = "äöüßé" },
		`{"text":"a\r\nb"}`:                              func(e *everything) { e.Text = "a\nb" },
		`{"text":""}`:                                    nil,
		`{"text":null}`:                                  nil,
		`{"text":"123456"}`:                              nil,
		`{"text":"\u0000"}`:                              nil,
		`{"text":7}`:                                     nil,
		`{"text":["a"]}`:                                 nil,
		`{"remark":null}`:                                func(e *everything) { e.Remark = "" },
		`{"remark":"123456"}`:                            nil,
		`{"count":-9223372036854775808}`:                 func(e *everything) { e.Count = -1 << 63 },
		`{"count":9223372036854775808}`:                  nil,
		`{"count":1.5}`:                                  nil,
		`{"count":"1"}`:                                  nil,
		`{"amount":"-0012.500000"}`:                      func(e *everything) { e.Amount = "-0012.500000" },
		`{"amount":12.50}`:                               func(e *everything) { e.Amount = "12.50" },
		`{"amount":"1e5"}`:                               nil,
		`{"amount":1e5}`:                                 nil,
		`{"amount":"NaN"}`:                               nil,
		`{"amount":"1234567890123456"}`:                  nil,
		`{"amount":"1.1234567"}`:                         nil,
		`{"amount":true}`:                                nil,
		`{"paid":false}`:                                 func(e *everything) { e.Paid = false },
		`{"paid":null}`:                                  nil,
		`{"paid":"true"}`:                                nil,
		`{"paid":0}`:                                     nil,
		`{"day":"2028-02-29"}`:                           func(e *everything) { e.Day = "2028-02-29" },
		`{"day":"2027-02-29"}`:                           nil,
		`{"day":"0000-01-01"}`:                           nil,
		`{"day":"2027-1-31"}`:                            nil,
		`{"day":"infinity"}`:                             nil,
		`{"at":"2027-01-31T14:05:00.1234567+02:00"}`:     func(e *everything) { e.At = time.Date(2027, 1, 31, 12, 5, 0, 123456000, time.UTC) },
		`{"at":"9999-12-31T23:59:59-01:00"}`:             nil,
		`{"at":"0001-01-01T00:00:00+01:00"}`:             nil,
		`{"at":"yesterday"}`:                             nil,
		`{"ref":"7F1C9A52-3b0e-4a57-9d0c-2f6a8e5b1c34"}`: func(e *everything) { e.Ref = "7f1c9a52-3b0e-4a57-9d0c-2f6a8e5b1c34" },
		`{"ref":"7f1c9a523b0e4a579d0c2f6a8e5b1c34"}`:     nil,
		`{"due":null}`:                                   func(e *everything) { e.Due = nil },
		`{"due":""}`:                                     func(e *everything) { e.Due = nil },
		`{"due":"soon"}`:                                 nil,
		`{"due":{}}`:                                     nil,
		`{"unknown":1}`:                                  func(*everything) {},
	} {
		in, err := input(t, http.MethodPatch, "application/merge-patch+json", body)
		if err != nil {
			t.Fatalf("%s: %v", body, err)
		}
		got := was
		err = got.read(in)
		if want == nil {
			name := strings.Split(body, `"`)[1]
			if invalid := web.Invalid(nil); !errors.As(err, &invalid) || len(invalid) != 1 || invalid[name] == "" {
				t.Errorf("%s: %v, want that %s alone is wrong", body, err, name)
			}
			continue
		}
		expected := was
		want(&expected)
		if a, b := asJSON(t, got), asJSON(t, expected); err != nil || a != b {
			t.Errorf("%s: %s, %v; want %s", body, a, err, b)
		}
	}
	if *was.Due != day {
		t.Error("a change went through a pointer to what was read before")
	}
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// What is new names every field that is not there, but what may be left out.
func TestInput_EverythingIsNeededWhereItIsNew(t *testing.T) {
	t.Parallel()
	for contentType, body := range map[string]string{jsonType: `{"text":null}`, "application/x-www-form-urlencoded": "text=+", "application/json; charset=utf-8": ""} {
		in, err := input(t, http.MethodPost, contentType, body)
		if err != nil {
			t.Fatal(err)
		}
		var e everything
		if invalid := web.Invalid(nil); !errors.As(e.read(in), &invalid) || len(invalid) != 6 || invalid["paid"]+invalid["due"]+invalid["remark"] != "" {
			t.Errorf("%s: %v", contentType, invalid)
		}
	}
}

// A form shows what there is in the way in which a form sends it.
func TestInput_AFormThatIsSentAsItIsShownChangesNothing(t *testing.T) {
	t.Parallel()
	in, err := input(t, http.MethodPost, jsonType, `{"text":"a","count":7,"amount":"12.50","paid":true,"day":"2027-01-31",
		"at":"2027-01-31T14:05:09+02:00","ref":"7f1c9a52-3b0e-4a57-9d0c-2f6a8e5b1c34","due":"2027-01-31"}`)
	if err != nil {
		t.Fatal(err)
	}
	var was, now everything
	if err := was.read(in); err != nil {
		t.Fatal(err)
	}
	shown := web.FormOf(1, map[string]any{
		"text": was.Text, "remark": was.Remark, "count": was.Count, "amount": was.Amount, "paid": was.Paid, "day": was.Day, "at": was.At,
		"ref": was.Ref, "due": was.Due,
	})
	if at := shown.Values["at"]; at != "2027-01-31T12:05:09" {
		t.Errorf("a moment is shown as %s, which a browser does not take", at)
	}
	sent := url.Values{}
	for name, value := range shown.Values {
		sent.Set(name, value)
	}
	if in, err = input(t, http.MethodPost, "application/x-www-form-urlencoded", sent.Encode()); err != nil {
		t.Fatal(err)
	}
	if err := now.read(in); err != nil || asJSON(t, now) != asJSON(t, was) {
		t.Errorf("%s, %v; want %s", asJSON(t, now), err, asJSON(t, was))
	}
}

// A body that is no object, or of no type that is known, is not read.
func TestInput_OtherBodies(t *testing.T) {
	t.Parallel()
	boundary := web.NewBoundary(nil, false)
	for _, c := range []struct {
		contentType, body string
		want              int
	}{
		{jsonType, `[]`, 400}, {jsonType, `null`, 400}, {jsonType, `"x"`, 400}, {jsonType, `{`, 400}, {jsonType, `{}{}`, 400},
		{"application/x-www-form-urlencoded", `%zz`, 400}, {"multipart/form-data", `x`, 400}, {"text/plain", `x`, 415}, {"", `x`, 415},
	} {
		if _, err := input(t, http.MethodPost, c.contentType, c.body); err == nil || boundary.Problem(err).Status != c.want {
			t.Errorf("%s %s: %v, want %d", c.contentType, c.body, err, c.want)
		}
	}
}
