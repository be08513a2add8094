// Package webhook receives the platform's events (contract, sections 5 and 6).
package webhook

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"example.com/subproduct/handlers/platform"
	"example.com/subproduct/handlers/web"
	"example.com/subproduct/tenancy"
	"example.com/subproduct/tenancy/inbox"
)

const (
	maxBody = 1 << 20
	// patience leaves a second of the platform's five for the way back.
	patience = 4 * time.Second
)

// Receiver verifies an event over its raw bytes, stores it, and only then does
// what it asks for.
type Receiver struct {
	Inbox        *inbox.Inbox
	Secret       string
	Previous     string   // still accepted while the secret is rotated; empty: none
	TenantFields []string // where the tenant's slug may stand in a body
	Log          *slog.Logger
}

// Receive answers POST /webhooks/platform. Whatever it acknowledges is stored,
// and it answers within the platform's 5 seconds whatever happens.
func (r *Receiver) Receive(c echo.Context) error {
	ctx, cancel := context.WithTimeout(c.Request().Context(), patience)
	defer cancel()
	body, err := io.ReadAll(http.MaxBytesReader(c.Response(), c.Request().Body, maxBody))
	if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
		return c.String(http.StatusRequestEntityTooLarge, "body over 1 MiB")
	}
	if err != nil {
		return c.String(http.StatusBadRequest, "body cut off")
	}
	signedWith := r.verify(body, c.Request().Header.Values(platform.SignatureHeader))
	if signedWith == "" {
		return c.String(http.StatusUnauthorized, "invalid signature")
	}
	event, err := platform.ParseEnvelope(body, r.TenantFields)
	if err != nil {
		return c.String(http.StatusBadRequest, err.Error())
	}
	return r.take(ctx, c, inbox.Delivery{Type: event.Type, Tenant: event.Tenant, Body: body, SignedWith: signedWith})
}

// verify names the secret that signed the body; empty when none did. Two
// signatures are no signature.
func (r *Receiver) verify(body []byte, signatures []string) string {
	switch {
	case len(signatures) != 1:
		return ""
	case platform.Verify(r.Secret, body, signatures[0]):
		return "current"
	case platform.Verify(r.Previous, body, signatures[0]):
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
	outcome, err := r.Inbox.Deliver(ctx, d)
	if err != nil {
		r.Log.ErrorContext(ctx, "event refused: it cannot be stored", "event_type", d.Type, "error", err, "request_id", web.RequestID(c))
		c.Response().Header().Set(echo.HeaderRetryAfter, "1")
		return c.String(http.StatusServiceUnavailable, "cannot be stored now, send it again")
	}
	switch outcome {
	case inbox.Accepted:
		return c.String(http.StatusAccepted, "stored, being processed")
	case inbox.FailedOnce:
		return c.String(http.StatusInternalServerError, "stored, failed this time")
	case inbox.Rejected:
		return c.String(http.StatusUnprocessableEntity, "stored, cannot be processed")
	}
	return c.String(http.StatusOK, "ok")
}
