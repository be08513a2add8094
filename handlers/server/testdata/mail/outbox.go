package mail

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/labstack/echo/v4"

	"example.com/subproduct/handlers/server"
	"example.com/subproduct/tenancy"
)

type outbox struct {
	db     *tenancy.DB
	mailer *mailer
}

// request answers POST /api/invoices/:number/mail. It writes that a mail is due,
// in the transaction of what it is about: it is sent if and only if that commits.
func (o outbox) request(c echo.Context) error {
	ctx := c.Request().Context()
	err := o.db.InTx(ctx, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `INSERT INTO mails (recipient, number) VALUES ($1, $2)`, c.FormValue("to"), c.Param("number"))
		return err
	})
	if err != nil {
		return err
	}
	return c.NoContent(http.StatusAccepted)
}

// product is what the recipe adds to one.
func product() server.Product {
	m := &mailer{}
	return server.Product{
		Name: "Invoices", Slug: "invoices",
		Settings:   m.settings,
		Routes:     func(r server.Routes) { r.User.POST("/api/invoices/:number/mail", outbox{r.DB, m}.request) },
		Background: func(ctx context.Context, db *tenancy.DB) error { return outbox{db, m}.work(ctx) },
	}
}

// pause is between two looks for mails that are due.
const pause = time.Second

// work sends what is due, of one tenant after the other, in every replica.
func (o outbox) work(ctx context.Context) error {
	for {
		if err := o.db.EachTenant(ctx, o.sendNext); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
	}
}

// sendNext sends one mail of a tenant, at least once: a process that ends before
// COMMIT sends it again. Other replicas skip the row meanwhile. One that fails
// is due again after a second, then twice as long each time, up to an hour.
func (o outbox) sendNext(ctx context.Context) error {
	return o.db.InTx(ctx, func(tx pgx.Tx) error {
		var id int64
		var to string
		var invoice struct{ Number, Total string }
		err := tx.QueryRow(ctx, `
			SELECT id, recipient, number, total::text FROM mails JOIN invoices USING (number)
			WHERE due <= now() AND NOT refused ORDER BY due LIMIT 1 FOR UPDATE OF mails SKIP LOCKED`).
			Scan(&id, &to, &invoice.Number, &invoice.Total)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		err = o.mailer.send(ctx, fmt.Sprintf("invoice-mail-%d", id), to, "Invoice "+invoice.Number, invoiceMail, invoice)
		if err == nil {
			_, err = tx.Exec(ctx, `DELETE FROM mails WHERE id = $1`, id)
			return err
		}
		_, err = tx.Exec(ctx, `
			UPDATE mails SET error = $2, refused = $3, attempts = attempts + 1,
				due = now() + least(interval '1 second' * 2 ^ least(attempts, 20), interval '1 hour')
			WHERE id = $1`, id, err.Error(), errors.Is(err, errRefused))
		return err
	})
}
