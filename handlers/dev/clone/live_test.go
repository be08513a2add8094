package clone_test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"example.com/subproduct/tenancy/localpg/pgtest"
)

// useInvoices starts the program in dir with `dev`, and uses the pages and the
// API of its invoices as two tenants.
func useInvoices(t *testing.T, dir, program string) {
	t.Helper()
	app := startDev(t, dir, program)
	ada, grace := signIn(t, app, "u-ada"), signIn(t, app, "u-grace")
	for _, step := range []struct {
		who                      *visitor
		method, path, body, want string
	}{
		{ada, "GET", "/invoices", "", "Nothing here yet."},
		{ada, "POST", "/invoices", "number=A-1&amount=much", "422 .*amount-error"},
		{ada, "POST", "/invoices", "number=A-1&amount=12.50&due=2027-01-31", "200 .*The invoice was added.*A-1"},
		{ada, "POST", "/invoices/1", "number=A-1&amount=13&due=2027-01-31&paid=true", "200 .*The invoice was saved.*13"},
		{ada, "POST", "/api/invoices", `{"number":"A-2","amount":"7.25","due":"2027-02-28","paid":false}`, `201 .*"id":2,"number":"A-2"`},
		{ada, "PATCH", "/api/invoices/2", `{"paid":true}`, `200 .*"number":"A-2".*"paid":true`},
		{ada, "GET", "/api/invoices", "", `200 {"invoices":\[{"id":2,.*{"id":1,"number":"A-1","amount":"13".*\]}`},

		{grace, "GET", "/api/invoices", "", `200 {"invoices":\[\]}`},
		{grace, "GET", "/invoices", "", "Nothing here yet."},
		{grace, "GET", "/invoices/1", "", "404 "},
		{grace, "POST", "/invoices/1", "number=B-1", "404 "},
		{grace, "POST", "/invoices/1/delete", "", "404 "},
		{grace, "PATCH", "/api/invoices/2", `{"paid":false}`, "404 "},
		{grace, "DELETE", "/api/invoices/2", "", "404 "},
		{grace, "POST", "/api/invoices", `{"number":"A-1","amount":"1","due":"2027-02-28","paid":false}`, `201 .*"id":1,"number":"A-1"`},

		{ada, "GET", "/invoices", "", "(?s)200 .*A-2.*A-1"},
		{ada, "GET", "/invoices/1/delete", "", "200 .*A-1"},
		{ada, "POST", "/invoices/1/delete", "", "200 .*The invoice was deleted"},
		{ada, "DELETE", "/api/invoices/2", "", "204 "},
		{ada, "GET", "/api/invoices", "", `200 {"invoices":\[\]}`},
		{grace, "GET", "/api/invoices/1", "", `200 .*"number":"A-1"`},
	} {
		if got := step.who.do(step.method, step.path, step.body); !regexp.MustCompile("(?s)" + step.want).MatchString(got) {
			t.Errorf("%s: %s %s %s: no %s in\n%s", step.who.user, step.method, step.path, step.body, step.want, got)
		}
	}
}

// startDev starts a program with `dev`, and returns the app's address. It ends
// with the test, and so does what it has started.
func startDev(t *testing.T, dir, program string) string {
	t.Helper()
	data := pgtest.Dir(t)
	c := exec.Command(program, "dev", "--app-addr", "127.0.0.1:0", "--platform-addr", "127.0.0.1:0", "--data", data)
	var problems, said strings.Builder
	c.Dir, c.Stderr = dir, &problems
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Process.Signal(os.Interrupt)
		if err := c.Wait(); err != nil {
			t.Errorf("dev: %v\n%s%s", err, said.String(), problems.String())
		}
	})
	address := regexp.MustCompile(`(http://\S+)/ +the app`)
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if m := address.FindStringSubmatch(lines.Text()); m != nil {
			return m[1]
		}
		said.WriteString(lines.Text() + "\n")
	}
	t.Fatal("dev ended before it printed its addresses")
	return ""
}

// visitor is a browser in which somebody is signed in.
type visitor struct {
	t         *testing.T
	app, user string
	client    *http.Client
}

// signIn signs a user in at the app, by the platform's page.
func signIn(t *testing.T, app, user string) *visitor {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	v := &visitor{t, app, user, &http.Client{Jar: jar}}
	t.Cleanup(v.client.CloseIdleConnections)
	platform, _ := v.send("GET", app+"/invoices", "")
	if at, page := v.send("POST", platform, url.Values{"user": {user}}.Encode()); at != app+"/invoices" {
		t.Fatalf("signing %s in at %s led to %s: %s", user, platform, at, page)
	}
	return v
}

// do is the status and the body that a path of the app answers, where it leads to.
func (v *visitor) do(method, path, body string) string {
	v.t.Helper()
	_, answer := v.send(method, v.app+path, body)
	return answer
}

func (v *visitor) send(method, address, body string) (at, answer string) {
	v.t.Helper()
	request, err := http.NewRequestWithContext(v.t.Context(), method, address, strings.NewReader(body))
	if err != nil {
		v.t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if strings.Contains(address, "/api/") {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := v.client.Do(request)
	if err != nil {
		v.t.Fatal(err)
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		v.t.Fatal(err)
	}
	return response.Request.URL.String(), fmt.Sprintf("%d %s", response.StatusCode, content)
}
