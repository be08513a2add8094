package server_test

import (
	"context"
	"encoding/csv"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"slices"
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

// recipe begins
var isRow = regexp.MustCompile(`^[\w-]{1,40},\d{1,10}(\.\d{1,2})?$`)

func (i invoices) importFile(c echo.Context) error {
	in, err := web.ReadInput(c)
	if err != nil {
		return err
	}
	file, _, err := c.Request().FormFile("file")
	if err != nil {
		return err // none was sent: 422
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		in.Fail("file", "This is no CSV: "+err.Error()) // with the line
	}
	for n, row := range slices.Backward(rows) { // the first that is wrong is shown
		if len(row) != 2 || !isRow.MatchString(strings.Join(row, ",")) {
			in.Fail("file", fmt.Sprintf("Row %d is not a number and a total.", n+1))
		}
	}
	if err := in.Err(); err != nil {
		return in.Again(c, "import.html", err)
	}
	if err := i.add(c.Request().Context(), rows); err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, "/invoices")
}

// recipe ends

// add inserts rows of a number and a total, all or none.
func (i invoices) add(ctx context.Context, rows [][]string) error {
	var numbers, totals []string
	for _, row := range rows {
		numbers, totals = append(numbers, row[0]), append(totals, row[1])
	}
	_, err := i.db.Exec(ctx, `INSERT INTO invoices (number, total) SELECT unnest($1::text[]), unnest($2::text[])::numeric`, numbers, totals)
	return err
}

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
		if all := recipes(t); !strings.Contains(all, "```go\n"+code+"\n```") && !strings.Contains(all, "`"+code+"`") {
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
			// recipe begins
			r.Upload(5<<20, time.Minute).POST("/invoices/import", invoices.importFile)
			// recipe ends
			r.User.GET("/invoices/import", func(c echo.Context) error {
				// recipe begins
				return web.Form{}.Show(c, "import.html")
				// recipe ends
			})
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
			"import.html":  {Data: []byte(`{{define "main"}}` + recipe(t, "html", "multipart") + `{{end}}`)},
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

// A file is taken whole or not at all, and what is wrong with it stands in the form.
func TestRecipes_AFileThatAUserUploads(t *testing.T) {
	t.Parallel()
	site := recipeSite(t)
	b := site.SignIn(t, "acme")
	if form := b.Get("/invoices/import"); !strings.Contains(form.Body, `name="file"`) || strings.Contains(form.Body, `class="error"`) {
		t.Errorf("the form: %d %s", form.Status, form.Body)
	}
	for content, want := range map[string]struct {
		status int
		text   string
	}{
		"2026-1,10\n2026-2,much\n2026-3\n":   {422, "record on line 3"},
		"2026-1,10\n2026-2,much\n2026-3,x\n": {422, `<p class="error">Row 2 is not a number and a total.</p>`},
		"2026-1,10,EUR\n":                    {422, `<p class="error">Row 1 is not`},
		"\"2026-1,10\"\n":                    {422, `<p class="error">Row 1 is not`},
		"2026-1,10\n\xff,10\n":               {422, "Row 2 is not"},
		"2026-1,10\n2026-1,10\n":             {409, ""},
		strings.Repeat("2026-1,10\n", 6e5):   {413, ""},
		"\"2026-1\",10\n2026-2,20.50\n":      {303, ""},
	} {
		answer := b.PostMultipart("/invoices/import", nil, handlertest.File{Field: "file", Name: "a.csv", Content: content})
		if answer.Status != want.status || !strings.Contains(answer.Body, want.text) {
			t.Errorf("%.40q: %d %s, want %d", content, answer.Status, answer.Body, want.status)
		}
	}
	if answer := b.PostMultipart("/invoices/import", nil); answer.Status != http.StatusUnprocessableEntity {
		t.Errorf("without a file: %d %s", answer.Status, answer.Body)
	}
	const all = `SELECT string_agg(number || ': ' || total, '; ' ORDER BY number) FROM invoices`
	if got := handlertest.TenantQuery[string](t, site, "acme", all); got != "2026-1: 10.00; 2026-2: 20.50" {
		t.Errorf("there is %s", got)
	}
}
