package handlers

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"

	"github.com/jackc/pgx/v5"
	"github.com/labstack/echo/v4"

	"example.com/subproduct/tenancy"
	"example.com/subproduct/tenancy/jobs"
)

// mails are those about invoices.
type mails struct {
	db     *tenancy.DB
	mailer *mailer
}

// mailInvoice is a job. ID names the mail, however often it is sent.
type mailInvoice struct{ ID, Number, To string }

func (mailInvoice) Kind() string { return "mail_invoice" }

// request answers POST /api/invoices/:number/mail. The mail is sent if and only
// if the transaction commits.
func (m mails) request(c echo.Context) error {
	ctx := c.Request().Context()
	job := mailInvoice{rand.Text(), c.Param("number"), c.FormValue("to")}
	err := m.db.InTx(ctx, func(tx pgx.Tx) error { return jobs.Insert(ctx, tx, job) })
	if err != nil {
		return err
	}
	return c.NoContent(http.StatusAccepted)
}

// send runs the job: at least once, again after an error, and not after one
// that is permanent.
func (m mails) send(ctx context.Context, job mailInvoice) error {
	invoice := struct{ Number, Amount string }{Number: job.Number}
	err := m.db.QueryRow(ctx, `SELECT amount::text FROM invoices WHERE number = $1`, job.Number).Scan(&invoice.Amount)
	if err == nil {
		err = m.mailer.send(ctx, job.ID, job.To, "Invoice "+job.Number, invoiceMail, invoice)
	}
	if errors.Is(err, pgx.ErrNoRows) || errors.Is(err, errRefused) {
		return jobs.Permanent(err)
	}
	return err
}
