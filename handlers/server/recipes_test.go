package server_test

import (
	"context"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/labstack/echo/v4"

	"example.com/subproduct/handlers/handlertest"
	"example.com/subproduct/handlers/server"
	"example.com/subproduct/handlers/session"
	"example.com/subproduct/handlers/web"
)

// What stands between the marks stands in RECIPES.md too, and the tests take
// the SQL and the HTML from there.

// recipe begins
func rememberMember(ctx context.Context, tx pgx.Tx, user session.User) error {
	_, err := tx.Exec(ctx, `
		INSERT INTO members (user_id, email) VALUES ($1, $2)
		ON CONFLICT (user_id) DO UPDATE SET email = excluded.email, last_seen = now()`, user.ID, user.Email)
	return err
}

// recipe ends

// recipe begins
func (i invoices) showPublic(c echo.Context) error {
	ctx, err := i.db.ForTenant(c.Request().Context(), c.Param("tenant"))
	if err != nil {
		return err
	}
	total, err := i.total(ctx, c.Param("number"))
	if err != nil {
		return err
	}
	return c.Render(http.StatusOK, "invoice.html", total)
}

// recipe ends

const week = 7 * 24 * time.Hour

// recipe begins
type links struct {
	invoices
	publicURL string
}

func (l links) share(c echo.Context) error {
	token, err := l.db.SignLink(c.Request().Context(), "invoice", c.Param("number"), week)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusCreated, map[string]string{"url": l.publicURL + "/shared/" + token})
}

func (l links) showShared(c echo.Context) error {
	ctx, number, err := l.db.OpenLink(c.Request().Context(), "invoice", c.Param("token"))
	if err != nil {
		return err
	}
	total, err := l.total(ctx, number)
	if err != nil {
		return err
	}
	return c.Render(http.StatusOK, "invoice.html", total)
}

// recipe ends

// recipes is RECIPES.md.
func recipes(t *testing.T) string {
	t.Helper()
	content, err := os.ReadFile("RECIPES.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// recipe is the one block of RECIPES.md in that language which has the text.
func recipe(t *testing.T, language, text string) string {
	t.Helper()
	for _, m := range regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllStringSubmatch(recipes(t), -1) {
		if strings.Contains(m[1], text) {
			return m[1]
		}
	}
	t.Fatalf("RECIPES.md has no %s with %q", language, text)
	return ""
}

func TestRecipes_TheDocShowsWhatIsRun(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("recipes_test.go")
	if err != nil {
		t.Fatal(err)
	}
	marked := regexp.MustCompile(`(?s)\n\t*// recipe begins\n(.*?)\n\t*// recipe ends\n`).FindAllStringSubmatch(string(source), -1)
	if len(marked) < 5 {
		t.Fatalf("%d recipes", len(marked))
	}
	for _, m := range marked {
		code := strings.Trim(m[1], "\n")
		for strings.HasPrefix(code, "\t") { // from inside a function
			code = strings.ReplaceAll("\n"+code, "\n\t", "\n")[1:]
		}
		if !strings.Contains(recipes(t), "```go\n"+code+"\n```") {
			t.Errorf("RECIPES.md does not show:\n%s", code)
		}
	}
}

// recipeSite is a product that is made of the recipes.
func recipeSite(t *testing.T) *handlertest.Site {
	t.Helper()
	var reports echo.HandlerFunc = func(c echo.Context) error { return c.Render(http.StatusOK, "reports.html", nil) }
	product := server.Product{
		Name: "Invoices", Slug: "invoices",
		Errors: []web.ErrorAnswer{{Err: errNoInvoice, Status: http.StatusNotFound, Sentence: "There is no such invoice."}},
		Routes: func(r server.Routes) {
			invoices := invoices{r.DB}
			// recipe begins
			r.User.GET("/reports", reports, web.RequirePlan("Pro", "Team"))
			// recipe ends
			r.User.GET("/", func(c echo.Context) error { return c.Render(http.StatusOK, "home.html", nil) })
			// recipe begins
			r.Public.GET("/invoices/:tenant/:number", invoices.showPublic)
			// recipe ends
			// recipe begins
			links := links{invoices, r.PublicURL}
			r.User.POST("/api/invoices/:number/link", links.share)
			r.Public.GET("/shared/:token", links.showShared)
			// recipe ends
		},
		OnSignIn: rememberMember,
		TenantSchema: fstest.MapFS{
			"000001_invoices.up.sql": {Data: []byte(`CREATE TABLE invoices (number text PRIMARY KEY, total numeric(12,2) NOT NULL)`)},
			"000002_members.up.sql":  {Data: []byte(recipe(t, "sql", "CREATE TABLE members"))},
		},
		Templates: fstest.MapFS{
			"layout.html":  {Data: []byte(`{{template "main" .}}`)},
			"home.html":    {Data: []byte(`{{define "main"}}` + recipe(t, "html", "HasPlan") + `{{end}}`)},
			"reports.html": {Data: []byte(`{{define "main"}}Reports{{end}}`)},
			"invoice.html": {Data: []byte(`{{define "main"}}{{.Data}} EUR{{end}}`)},
		},
	}
	return handlertest.Start(t, product, handlertest.Setup{})
}

func TestRecipes_APlanOpensAPage(t *testing.T) {
	t.Parallel()
	site := recipeSite(t)
	b := site.SignIn(t, "acme", handlertest.Plan("basic"))
	if home, page := b.Get("/"), b.Get("/reports"); strings.Contains(home.Body, "/reports") || page.Status != http.StatusForbidden {
		t.Errorf("without the plan: %d, home %s", page.Status, home.Body)
	}
	if _, err := site.Platform.ChangePlan(t.Context(), "acme", "pro"); err != nil {
		t.Fatal(err)
	}
	if home, page := b.Get("/"), b.Get("/reports"); !strings.Contains(home.Body, `href="/reports"`) || page.Body != "Reports" {
		t.Errorf("with it: %d, home %s", page.Status, home.Body)
	}
}

func TestRecipes_MembersAreKept(t *testing.T) {
	t.Parallel()
	site := recipeSite(t)
	b := site.SignIn(t, "acme")
	site.TenantExec(t, "acme", `UPDATE members SET email = 'old@acme.example', first_seen = '2026-01-01', last_seen = '2026-01-01'`)
	b.Callback("u-acme")
	const found = `SELECT count(*) FROM members WHERE user_id = 'u-acme' AND email = 'user@acme.example' AND first_seen = '2026-01-01' AND last_seen > now() - interval '1 hour'`
	if n := handlertest.TenantQuery[int](t, site, "acme", found); n != 1 {
		t.Errorf("%d members, want one", n)
	}
}

func TestRecipes_PublicPagesAndLinks(t *testing.T) {
	t.Parallel()
	site := recipeSite(t)
	b, nobody := site.SignIn(t, "acme"), site.Browser(t)
	site.TenantExec(t, "acme", `INSERT INTO invoices (number, total) VALUES ('2026-7', 12.5)`)
	site.Subscribe(t, "globex")
	for path, want := range map[string]int{
		"/invoices/acme/2026-7": 200, "/invoices/acme/2026-8": 404, "/invoices/globex/2026-7": 404, "/invoices/nobody/2026-7": 404, "/invoices/-/2026-7": 404,
	} {
		if answer := nobody.Get(path); answer.Status != want || want == 200 && answer.Body != "12.50 EUR" {
			t.Errorf("%s: %d %s", path, answer.Status, answer.Body)
		}
	}
	var link struct{ URL string }
	b.API(http.MethodPost, "/api/invoices/2026-7/link", "").JSON(t, &link)
	path, ours := strings.CutPrefix(link.URL, site.URL)
	if answer := nobody.Get(path); !ours || answer.Body != "12.50 EUR" {
		t.Errorf("%s: %d %s", link.URL, answer.Status, answer.Body)
	}
	if answer := nobody.Get(path + "x"); answer.Status != http.StatusNotFound || !strings.Contains(answer.Body, "not valid") {
		t.Errorf("forged: %d %s", answer.Status, answer.Body)
	}
	if _, err := site.Platform.Cancel(t.Context(), "acme"); err != nil {
		t.Fatal(err)
	}
	for _, closed := range []string{path, "/invoices/acme/2026-7"} {
		if answer := nobody.Get(closed); answer.Status != http.StatusForbidden || strings.Contains(answer.Body, "12.50") {
			t.Errorf("of a cancelled tenant: %d %s", answer.Status, answer.Body)
		}
	}
}
