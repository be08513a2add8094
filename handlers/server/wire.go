package server

import (
	"io/fs"
	"log/slog"
	"slices"

	"github.com/labstack/echo/v4"

	"example.com/subproduct/handlers/config"
	"example.com/subproduct/handlers/health"
	"example.com/subproduct/handlers/platform"
	"example.com/subproduct/handlers/session"
	"example.com/subproduct/handlers/sso"
	"example.com/subproduct/handlers/web"
	"example.com/subproduct/handlers/webhook"
	"example.com/subproduct/tenancy"
	"example.com/subproduct/tenancy/inbox"
	"example.com/subproduct/tenancy/jobs"
)

// app is the parts that serve a product, each made of those above it.
type app struct {
	product  Product
	config   config.Config
	options  Options
	log      *slog.Logger
	db       *tenancy.DB
	health   *health.Health
	inbox    *inbox.Inbox
	jobs     *jobs.Engine
	sessions *session.Manager
	sso      *sso.SSO
	webhook  *webhook.Receiver
	errors   *web.Boundary
	assets   *web.Assets
	echo     *echo.Echo
	// middleware is what every request passes, outermost first.
	middleware []echo.MiddlewareFunc
}

// wire makes the parts. It returns an error for a page that cannot be parsed
// and for an asset that cannot be read.
func wire(p Product, c config.Config, db *tenancy.DB, o Options, log *slog.Logger) (*app, error) {
	a := &app{product: p, config: c, options: o, log: log, db: db, health: health.New(db, log)}
	a.errors = web.NewBoundary(slices.Concat(p.Errors, errorAnswers()), o.ShowCauses)
	if err := a.newEcho(); err != nil {
		return nil, err
	}
	a.sessions = session.New(db, c.SessionLifetime, c.PublicURL)
	a.sso = a.signOn()
	var err error
	o.Inbox.Retention, o.Inbox.Logger, o.Inbox.Conns = c.EventRetention, log, splitConns(c.DatabaseMaxConns).inbox
	o.Inbox.Observe = o.metrics.Event
	o.Inbox.PlanEvents, o.Inbox.Plan = c.PlanEvents, func(body []byte) string { return platform.Plan(body, c.PlanFields) }
	if a.inbox, err = inbox.New(db, p.Events, o.Inbox); err != nil {
		return nil, err
	}
	a.watch()
	a.webhook = &webhook.Receiver{
		Inbox: a.inbox, Secret: c.WebhookSecret.Reveal(), Previous: c.WebhookSecretPrevious.Reveal(),
		TenantFields: c.WebhookTenantFields, Log: log,
	}
	if err := once(a.echo, a.routes); err != nil {
		return nil, err
	}
	web.Compose(a.echo, append(a.middleware, web.Methods(a.echo))...) // when all routes are there
	return a, nil
}

func (a *app) signOn() *sso.SSO {
	c := a.config
	s := &sso.SSO{
		Platform: platform.NewClient(platform.Settings{
			PlatformURL: c.PlatformURL.String(), BaseURL: c.PlatformBaseURL.String(), AppSlug: c.AppSlug,
			APIKey: c.PlatformAPIKey.Reveal(), TenantStatusField: c.TenantStatusField, Observe: a.options.metrics.Exchange,
		}),
		Sessions: a.sessions, DB: a.db, CallbackURL: c.CallbackURL(), Allowed: c.AllowedStatuses,
		State: c.SSOState, Secure: c.Secure(), Log: a.log, OnSignIn: a.product.OnSignIn,
	}
	if c.PlatformJWKSURL != nil {
		s.Tokens = &platform.Verifier{
			Keys: platform.NewKeySet(c.PlatformJWKSURL.String()), AppSlug: c.AppSlug, TenantStatusField: c.TenantStatusField,
		}
	}
	return s
}

// newEcho makes an Echo, and the middleware that every request passes.
func (a *app) newEcho() error {
	renderer, err := a.renderer()
	if err != nil {
		return err
	}
	sameOrigin, err := web.SameOrigin(a.config.PublicURL, "POST "+webhookPath)
	if err != nil {
		return err
	}
	e := echo.New()
	e.Renderer = renderer
	e.HTTPErrorHandler = a.errors.Write
	e.IPExtractor = web.ClientAddress(a.config.TrustedProxies)
	a.middleware = slices.Concat([]echo.MiddlewareFunc{
		a.options.metrics.Requests, web.AssignID(a.config.TrustedProxies),
	}, a.product.Middleware, []echo.MiddlewareFunc{
		web.Log(a.log, a.errors),
		measure,
		web.Recover,
		web.Headers(a.config.PlatformURL, a.config.Secure(), a.product.Scripts),
		web.NoReferrer(callbackPath),
		sameOrigin,
	})
	a.echo = e
	return nil
}

// renderer shows the product's pages and assets: those of the binary, or of
// the source tree as it is now.
func (a *app) renderer() (*web.Renderer, error) {
	templates, static, live := orEmpty(a.product.Templates), orEmpty(a.product.Static), a.options.Source != nil
	var err error
	if live {
		if templates, err = fs.Sub(a.options.Source, "templates"); err != nil {
			return nil, err
		}
		if static, err = fs.Sub(a.options.Source, "static"); err != nil {
			return nil, err
		}
	}
	if a.assets, err = web.NewAssets(static, live); err != nil {
		return nil, err
	}
	all, err := pages(templates)
	if err != nil {
		return nil, err
	}
	return web.NewRenderer(all, a.assets, a.product.Name, a.product.Funcs, live, signedIn)
}

// signedIn gives templates their .User.
func signedIn(c echo.Context) any {
	if user, ok := session.From(c.Request().Context()); ok {
		return user
	}
	return nil
}
