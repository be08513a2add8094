// Package webhook receives the platform's events (contract, sections 5 and 6).
package webhook

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/labstack/echo/v4"

	"example.com/subproduct/handlers/platform"
	"example.com/subproduct/handlers/web"
	"example.com/subproduct/tenancy"
	"example.com/subproduct/tenancy/inbox"
)

// answerTimeout leaves a second of the platform's five for the way back.
const answerTimeout = 4 * time.Second

// Receiver verifies an event over its raw bytes, stores it, and only then does
// what it asks for.
type Receiver struct {
	Inbox        *inbox.Inbox
	Secret       string
	Previous     string   // still accepted while the secret is rotated; empty: none
	TenantFields []string // where the tenant's slug may stand in a body
	Log          *slog.Logger

	bodies atomic.Int64 // bytes of all bodies that are being received
}

// Deadline ends a delivery's context when the platform waits no longer, however
// long it waits before Receive.
func Deadline(next echo.HandlerFunc) echo.HandlerFunc { return web.Within(answerTimeout)(next) }

// Receive answers POST /webhooks/platform after Deadline. One signature that is
// well-formed is the price of reading the body; two are none. Whatever it
// acknowledges is stored, and it answers within the platform's 5 seconds whatever
// happens.
func (r *Receiver) Receive(c echo.Context) error {
	ctx := c.Request().Context()
	signatures := c.Request().Header.Values(platform.SignatureHeader)
	if len(signatures) != 1 || !platform.IsSignature(signatures[0]) {
		return refusal{http.StatusUnauthorized, invalidSignature}.send(c)
	}
	body, release, refused := r.read(c)
	defer release()
	if refused != nil {
		return refused.send(c)
	}
	signedWith := r.verify(body, signatures[0])
	if signedWith == "" {
		return c.String(http.StatusUnauthorized, invalidSignature)
	}
	event, err := platform.ParseEnvelope(body, r.TenantFields)
	if err != nil {
		return c.String(http.StatusBadRequest, err.Error())
	}
	return r.take(ctx, c, inbox.Delivery{Type: event.Type, Tenant: event.Tenant, Body: body, SignedWith: signedWith})
}

const invalidSignature = "invalid signature"

// verify names the secret that signed the body; empty when none did.
func (r *Receiver) verify(body []byte, signature string) string {
	switch {
	case platform.Verify(r.Secret, body, signature):
		return "current"
	case platform.Verify(r.Previous, body, signature):
		return "previous"
	}
	return ""
}

// take stores the event and applies it, or leaves it to the inbox when that
// takes too long.
func (r *Receiver) take(ctx context.Context, c echo.Context, d inbox.Delivery) error {
	if slug, err := tenancy.ParseSlug(d.Tenant); err == nil {
		web.SetTenant(c, slug.String())
	}
	if r.Inbox.Handles(d.Type) { // others are whatever a sender likes
		web.Note(c, slog.String("event_type", d.Type))
	}
	outcome, err := r.Inbox.Deliver(ctx, d)
	if errors.Is(err, context.Canceled) && errors.Is(ctx.Err(), context.Canceled) {
		return err // the sender has left, which is logged as it is of any other client
	}
	if err != nil {
		r.Log.ErrorContext(ctx, "event refused: it cannot be stored", "event_type", d.Type, "error", err, "request_id", web.RequestID(c))
		c.Response().Header().Set(echo.HeaderRetryAfter, "1")
		return c.String(http.StatusServiceUnavailable, "cannot be stored now, send it again")
	}
	switch outcome {
	case inbox.Accepted:
		return c.String(http.StatusAccepted, "stored, being processed")
	case inbox.Interrupted:
		c.Response().Header().Set(echo.HeaderRetryAfter, "1")
		return c.String(http.StatusServiceUnavailable, "stored, the database failed this time")
	case inbox.FailedOnce:
		return c.String(http.StatusInternalServerError, "stored, failed this time")
	case inbox.Rejected:
		return c.String(http.StatusUnprocessableEntity, "stored, cannot be processed")
	}
	return c.String(http.StatusOK, "ok")
}
