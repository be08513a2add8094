// Package server takes a product, which is a value, and serves it: single
// sign-on, webhooks, sessions, health, and the product's routes on the data of
// the tenant who asks. It knows no product.
package server

import (
	"context"
	"flag"
	"html/template"
	"io"
	"io/fs"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/labstack/echo/v4"

	"example.com/subproduct/handlers/config"
	"example.com/subproduct/handlers/session"
	"example.com/subproduct/handlers/web"
	"example.com/subproduct/tenancy"
	"example.com/subproduct/tenancy/inbox"
	"example.com/subproduct/tenancy/jobs"
)

// Product is everything that makes one product different from another. Only
// Name and Slug are needed.
type Product struct {
	Name string // in the header and the title of every page
	Slug string // at the simulator of dev and tests, and as the application_name at the database

	// Templates are the pages, *.html. One of the same name as a page of the
	// template (layout, error, preparing, sessions, switch) replaces that page;
	// the forms of a switch page send .Data.Nonce as their field nonce, and what an
	// error page is given stands in README.md. Those named _*.html are parts, which
	// every page may show.
	Templates fs.FS
	Funcs     template.FuncMap // functions of the pages, beside asset and date
	Static    fs.FS            // the assets; but for *.go and *.md all are served
	// Scripts lets pages run the scripts of Static, and those fetch from this
	// server alone. Without it they run none. What is inline never runs.
	Scripts bool

	TenantSchema fs.FS // migrations of each tenant's schema
	SharedSchema fs.FS // migrations of the tables that all tenants share

	// Settings reads the product's own settings, for Serve, dev, tests and the
	// commands that run the product's code: its own, `tenants provision`, `jobs run`.
	Settings func(*config.Reader)
	Routes   func(Routes)
	// Middleware is around every request, the first outermost: tracing, for
	// example. The request has its id and its route's pattern, and an error has
	// been answered when it comes back. Nothing recovers from a panic of its own.
	Middleware []echo.MiddlewareFunc
	// Tracer hears of every statement on every connection to the database.
	Tracer pgx.QueryTracer
	// Events are what the product does with the platform's events. An entry
	// for subscription.created or tenant.cancelled runs after what the server
	// itself does, in the same transaction.
	Events   inbox.Handlers
	Errors   []web.ErrorAnswer // looked through before the server's own
	Commands []Command
	// Jobs declares the product's background jobs: what handlers run, and when.
	// With none, nothing of them costs anything. It declares and does nothing
	// else: it is called more than once, and before db can be used.
	Jobs func(db *tenancy.DB) []jobs.Declared
	// Background is what goes on beside the requests, in every replica, from
	// when the shared schema is there until ctx ends. After an error or a panic
	// it runs again, after a second at first and a minute at most. db.EachTenant
	// gives it contexts on which InTx works.
	Background func(ctx context.Context, db *tenancy.DB) error
	// OnProvision runs in the transaction that makes a tenant, wherever that
	// happens, after its migrations; tx is on the tenant's data. It does not run
	// for a tenant that is there, or is restored. An error undoes everything, and
	// it is tried again: have no effects outside of tx.
	OnProvision func(ctx context.Context, tx pgx.Tx, slug tenancy.Slug) error
	// OnSignIn runs at each sign-in with a browser, before there is a session, in
	// a transaction on the data of the user's tenant. An error rolls it back, is
	// answered as a handler's would be, and nobody is signed in. It may run twice,
	// as a function of InTx may.
	OnSignIn func(ctx context.Context, tx pgx.Tx, user session.User) error
}

// Routes is what a product's routes are added to.
type Routes struct {
	Public *echo.Group // anybody; session.From says who is signed in, if anybody
	User   *echo.Group // signed-in requests alone: DB works on the data of their tenant
	DB     *tenancy.DB
	// Upload makes a group like User for bodies of up to most bytes that arrive
	// and are answered within d, in place of 1 MiB and 15 seconds.
	Upload func(most int64, d time.Duration) *echo.Group
	// PublicURL is the setting, without a slash at its end: for addresses that
	// leave this server, in mails for example.
	PublicURL string
}

// Command is a command of the product's own, listed and run beside the
// template's.
type Command struct {
	Name, Summary string
	Flags         func(*flag.FlagSet) // declares flags; nil: there are none
	Run           func(ctx context.Context, c Call) error
}

// Call is what a Command is run with. The product's settings and the command's
// flags have been read.
type Call struct {
	Args   []string // what is left when the flags are taken away
	Stdout io.Writer
	DB     *tenancy.DB // connects when it is first used
}
