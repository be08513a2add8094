package mail

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"

	"github.com/jackc/pgx/v5"
	"github.com/labstack/echo/v4"

	"example.com/subproduct/handlers/server"
	"example.com/subproduct/tenancy"
	"example.com/subproduct/tenancy/jobs"
)

// product is what the recipe adds to one.
func product() server.Product {
	m := &mailer{}
	return server.Product{
		Name: "Invoices", Slug: "invoices",
		Settings: m.settings,
		Routes:   func(r server.Routes) { r.User.POST("/api/invoices/:number/mail", invoices{r.DB, m}.request) },
		Jobs:     func(db *tenancy.DB) []jobs.Declared { return []jobs.Declared{jobs.Handle(invoices{db, m}.mail)} },
	}
}

type invoices struct {
	db     *tenancy.DB
	mailer *mailer
}

// mailInvoice is a job. ID names the mail, however often it is sent.
type mailInvoice struct{ ID, Number, To string }

func (mailInvoice) Kind() string { return "mail_invoice" }

// request answers POST /api/invoices/:number/mail. The mail is sent if and only
// if the transaction commits.
func (i invoices) request(c echo.Context) error {
	ctx := c.Request().Context()
	job := mailInvoice{rand.Text(), c.Param("number"), c.FormValue("to")}
	err := i.db.InTx(ctx, func(tx pgx.Tx) error { return jobs.Insert(ctx, tx, job) })
	if err != nil {
		return err
	}
	return c.NoContent(http.StatusAccepted)
}

// mail runs the job: at least once, again after an error, and not after one
// that is permanent.
func (i invoices) mail(ctx context.Context, job mailInvoice) error {
	invoice := struct{ Number, Total string }{Number: job.Number}
	err := i.db.QueryRow(ctx, `SELECT total::text FROM invoices WHERE number = $1`, job.Number).Scan(&invoice.Total)
	if err == nil {
		err = i.mailer.send(ctx, job.ID, job.To, "Invoice "+job.Number, invoiceMail, invoice)
	}
	if errors.Is(err, pgx.ErrNoRows) || errors.Is(err, errRefused) {
		return jobs.Permanent(err)
	}
	return err
}
