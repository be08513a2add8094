package server_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/labstack/echo/v4"

	"example.com/subproduct/handlers/config"
	"example.com/subproduct/handlers/handlertest"
	"example.com/subproduct/handlers/server"
	"example.com/subproduct/handlers/web"
	"example.com/subproduct/tenancy"
	"example.com/subproduct/tenancy/inbox"
	"example.com/subproduct/tenancy/jobs"
)

// What stands between the marks stands in README.md too, which a test below
// sees to; another runs it.

// example begins
var errNoInvoice = errors.New("there is no such invoice")

type invoices struct{ db *tenancy.DB }

func (i invoices) show(c echo.Context) error {
	total, err := i.total(c.Request().Context(), c.Param("number"))
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, map[string]string{"total": total})
}

func (i invoices) total(ctx context.Context, number string) (total string, err error) {
	err = i.db.InTx(ctx, func(tx pgx.Tx) error {
		err := tx.QueryRow(ctx, `SELECT total::text FROM invoices WHERE number = $1`, number).Scan(&total)
		if errors.Is(err, pgx.ErrNoRows) {
			return errNoInvoice
		}
		return err
	})
	return total, err
}

// example ends

// example begins
func invoicePaid(ctx context.Context, tx pgx.Tx, e inbox.Event) error {
	var body struct {
		Data struct{ Number string }
	}
	if err := json.Unmarshal(e.Body, &body); err != nil || body.Data.Number == "" {
		return inbox.Permanent(errors.New("the event names no invoice"))
	}
	_, err := tx.Exec(ctx, `INSERT INTO payments (invoice) VALUES ($1)`, body.Data.Number)
	return err
}

// example ends

// example begins
type settings struct {
	apiKey  config.Secret
	perPage int
}

func (s *settings) read(r *config.Reader) {
	s.apiKey = r.RequiredSecret("MAIL_API_KEY", "key-for-dev")
	s.perPage = r.Int("INVOICES_PER_PAGE", 100)
}

// example ends

// example begins
func countInvoices() server.Command {
	var tenant string
	return server.Command{
		Name: "count-invoices", Summary: "how many invoices a tenant has; --tenant SLUG",
		Flags: func(set *flag.FlagSet) { set.StringVar(&tenant, "tenant", "", "whose invoices") },
		Run: func(ctx context.Context, c server.Call) error {
			ctx, err := c.DB.ForTenant(ctx, tenant)
			if err != nil {
				return err
			}
			var n int
			err = c.DB.InTx(ctx, func(tx pgx.Tx) error {
				return tx.QueryRow(ctx, `SELECT count(*) FROM invoices`).Scan(&n)
			})
			fmt.Fprintln(c.Stdout, n)
			return err
		},
	}
}

// example ends

// example begins
type receipt struct{ Number string }

func (receipt) Kind() string { return "receipt" }

type remind struct{}

func (remind) Kind() string { return "remind" }

func declareJobs(db *tenancy.DB) []jobs.Declared {
	i := invoices{db}
	return []jobs.Declared{
		jobs.Handle(i.sendReceipt),
		jobs.Handle(i.remind), jobs.EveryTenant(24*time.Hour, remind{}),
	}
}

// example ends

// example begins
func (i invoices) pay(c echo.Context) error {
	ctx, number := c.Request().Context(), c.Param("number")
	err := i.db.InTx(ctx, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `INSERT INTO payments (invoice) VALUES ($1)`, number); err != nil {
			return err
		}
		return jobs.Insert(ctx, tx, receipt{number}, jobs.Once())
	})
	if err != nil {
		return err
	}
	return c.NoContent(http.StatusAccepted)
}

// example ends

// example begins
func (i invoices) sendReceipt(ctx context.Context, r receipt) error {
	total, err := i.total(ctx, r.Number)
	if errors.Is(err, errNoInvoice) {
		return jobs.Permanent(err) // it was deleted meanwhile
	}
	if err != nil {
		return err
	}
	return i.mail(ctx, "Paid: "+total)
}

// example ends

func (i invoices) remind(ctx context.Context, _ remind) error { return i.mail(ctx, "Remember") }

// mail writes down what would be sent.
func (i invoices) mail(ctx context.Context, text string) error {
	return i.db.InTx(ctx, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `INSERT INTO mails (text) VALUES ($1)`, text)
		return err
	})
}

// example begins
func settlePayments(ctx context.Context, db *tenancy.DB) error {
	for {
		err := db.EachTenant(ctx, func(ctx context.Context) error {
			return db.InTx(ctx, func(tx pgx.Tx) error {
				_, err := tx.Exec(ctx, `DELETE FROM invoices WHERE number IN (SELECT invoice FROM payments)`)
				return err
			})
		})
		if err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(time.Minute):
		}
	}
}

// example ends

func TestExamples_Run(t *testing.T) {
	t.Parallel()
	var s settings
	// example begins
	product := server.Product{
		Name: "Invoices", Slug: "invoices",
		Settings: s.read,
		Routes: func(r server.Routes) {
			invoices := invoices{r.DB}
			r.User.GET("/api/invoices/:number", invoices.show)
			r.User.POST("/api/invoices/:number/pay", invoices.pay)
		},
		Events: inbox.Handlers{
			"invoice.paid": {Apply: invoicePaid},
		},
		Errors: []web.ErrorAnswer{
			{Err: errNoInvoice, Status: http.StatusNotFound, Sentence: "There is no such invoice."},
		},
		Commands:   []server.Command{countInvoices()},
		Jobs:       declareJobs,
		Background: settlePayments,
	}
	// example ends
	settle := make(chan struct{})
	product.Background = func(ctx context.Context, db *tenancy.DB) error {
		<-settle // when the rest has been looked at
		return settlePayments(ctx, db)
	}
	product.TenantSchema = fstest.MapFS{"000001_invoices.up.sql": {Data: []byte(`
		CREATE TABLE invoices (number text PRIMARY KEY, total numeric(12,2) NOT NULL);
		CREATE TABLE payments (invoice text NOT NULL);
		CREATE TABLE mails (text text NOT NULL)`)}}
	site := handlertest.Start(t, product, handlertest.Setup{Env: map[string]string{"INVOICES_PER_PAGE": "7"}})
	b := site.SignIn(t, "acme")
	site.TenantExec(t, "acme", `INSERT INTO invoices (number, total) VALUES ('2026-7', 12.5)`)
	if answer := b.Get("/api/invoices/2026-7"); answer.Body != `{"total":"12.50"}`+"\n" {
		t.Errorf("%d %s", answer.Status, answer.Body)
	}
	if answer := b.Get("/api/invoices/none"); answer.Status != http.StatusNotFound || !strings.Contains(answer.Body, "There is no such invoice.") {
		t.Errorf("%d %s", answer.Status, answer.Body)
	}
	for number, want := range map[string]int{"2026-7": http.StatusOK, "": http.StatusUnprocessableEntity} {
		for range 2 { // the second is a redelivery
			if answer := site.Event(t, "invoice.paid", "acme", map[string]string{"number": number}); answer.Status != want {
				t.Errorf("%q: %d %s, want %d", number, answer.Status, answer.Body, want)
			}
		}
	}
	if n := handlertest.TenantQuery[int](t, site, "acme", `SELECT count(*) FROM payments WHERE invoice = '2026-7'`); n != 1 {
		t.Errorf("%d effects, want one", n)
	}
	if s.perPage != 7 || s.apiKey.Reveal() != "key-for-dev" {
		t.Errorf("settings are %+v", s)
	}
	var out strings.Builder
	env := map[string]string{"DATABASE_URL": site.Database, "MAIL_API_KEY": "key"}
	c := server.CLI{Product: product, Stdout: &out, Env: func(name string) (string, bool) { v, ok := env[name]; return v, ok }}
	if err := c.Own(product.Commands[0])(t.Context(), []string{"--tenant", "acme"}); err != nil || out.String() != "1\n" {
		t.Errorf("%q, %v", out.String(), err)
	}
	if answer := b.API(http.MethodPost, "/api/invoices/2026-7/pay", ""); answer.Status != http.StatusAccepted {
		t.Errorf("%d %s", answer.Status, answer.Body)
	}
	site.RunJobs(t, "remind")
	if got := handlertest.TenantQuery[string](t, site, "acme", `SELECT string_agg(text, ', ' ORDER BY text) FROM mails`); got != "Paid: 12.50, Remember" {
		t.Errorf("mails: %s", got)
	}
	close(settle)
	handlertest.Await(t, "the paid invoice is settled", func() bool {
		return handlertest.TenantQuery[int](t, site, "acme", `SELECT count(*) FROM invoices`) == 0
	})
}

func TestExamples_TheReadmeShowsWhatIsRun(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("examples_test.go")
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	examples := regexp.MustCompile(`(?s)\n\t?// example begins\n(.*?)\n\t?// example ends\n`).FindAllStringSubmatch(string(source), -1)
	if len(examples) < 5 {
		t.Fatalf("%d examples", len(examples))
	}
	for _, e := range examples {
		if shown := indented(e[1]); !strings.Contains(string(readme), shown) {
			t.Errorf("README.md does not show:\n%s", shown)
		}
	}
}

// indented is code as Markdown shows it.
func indented(code string) string {
	code = strings.TrimRight(code, "\n")
	if strings.HasPrefix(code, "\t") { // from inside a function
		code = strings.ReplaceAll("\n"+code, "\n\t", "\n")[1:]
	}
	lines := strings.Split(code, "\n")
	for i, line := range lines {
		if line != "" {
			lines[i] = "    " + strings.ReplaceAll(line, "\t", "    ")
		}
	}
	return strings.Join(lines, "\n")
}
