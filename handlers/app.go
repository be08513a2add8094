package handlers

import (
	"io/fs"
	"log/slog"
	"maps"
	"net/http"

	"github.com/labstack/echo/v4"

	"example.com/subproduct/handlers/config"
	"example.com/subproduct/handlers/health"
	"example.com/subproduct/handlers/platform"
	"example.com/subproduct/handlers/session"
	"example.com/subproduct/handlers/sso"
	"example.com/subproduct/handlers/web"
	"example.com/subproduct/handlers/webhook"
	"example.com/subproduct/static"
	"example.com/subproduct/tenancy"
	"example.com/subproduct/tenancy/inbox"
)

// App is the server's routes and what they stand on.
type App struct {
	DB     *tenancy.DB
	Inbox  *inbox.Inbox
	Health *health.Health

	config   config.Config
	log      *slog.Logger
	sessions *session.Manager
	sso      *sso.SSO
	webhook  *webhook.Receiver
	assets   *web.Assets
}

// New wires the app.
func New(c config.Config, db *tenancy.DB, o ServeOptions, log *slog.Logger) (*App, http.Handler, error) {
	a := &App{DB: db, config: c, log: log, Health: health.New(db)}
	events := eventHandlers()
	maps.Copy(events, o.Events)
	o.Inbox.Retention, o.Inbox.Logger, o.Inbox.Conns = c.EventRetention, log, inboxConns(c.DatabaseMaxConns)
	var err error
	if a.Inbox, err = inbox.New(db, events, o.Inbox); err != nil {
		return nil, nil, err
	}
	a.sessions = session.New(db, c.SessionLifetime, c.PublicURL)
	a.sso = &sso.SSO{
		Platform: platform.NewClient(platform.Settings{
			PlatformURL: c.PlatformURL.String(), BaseURL: c.PlatformBaseURL.String(), AppSlug: c.AppSlug,
			APIKey: c.PlatformAPIKey.Reveal(), TenantStatusField: c.TenantStatusField,
		}),
		Sessions: a.sessions, DB: db, CallbackURL: c.CallbackURL(), Allowed: c.AllowedStatuses,
		State: c.SSOState, Secure: c.Secure(), Log: log,
	}
	if c.PlatformJWKSURL != nil {
		a.sso.Tokens = &platform.Verifier{
			Keys: platform.NewKeySet(c.PlatformJWKSURL.String()), AppSlug: c.AppSlug, TenantStatusField: c.TenantStatusField,
		}
	}
	a.webhook = &webhook.Receiver{
		Inbox: a.Inbox, Secret: c.WebhookSecret.Reveal(), Previous: c.WebhookSecretPrevious.Reveal(),
		TenantFields: c.WebhookTenantFields, Log: log,
	}
	if a.assets, err = web.NewAssets(static.FS); err != nil {
		return nil, nil, err
	}
	e, err := a.echo(o.Pages, o.Live)
	if err != nil {
		return nil, nil, err
	}
	user := a.routes(e)
	if o.Routes != nil {
		o.Routes(user, db)
	}
	return a, e, nil
}

// echo is an Echo with the middleware that every request passes, outermost
// first.
func (a *App) echo(pages fs.FS, live bool) (*echo.Echo, error) {
	renderer, err := web.NewRenderer(pages, a.assets, productName, live, signedIn)
	if err != nil {
		return nil, err
	}
	sameOrigin, err := web.SameOrigin(a.config.PublicURL)
	if err != nil {
		return nil, err
	}
	e := echo.New()
	e.Renderer = renderer
	e.HTTPErrorHandler = web.WriteError
	e.IPExtractor = web.ClientAddress(a.config.TrustedProxies)
	e.Use(
		web.AssignID,
		web.Log(a.log),
		web.Recover,
		web.Headers(a.config.PlatformURL, a.config.Secure()),
		sameOrigin,
	)
	return e, nil
}

// signedIn gives templates their .User.
func signedIn(c echo.Context) any {
	if user, ok := session.From(c.Request().Context()); ok {
		return user
	}
	return nil
}
