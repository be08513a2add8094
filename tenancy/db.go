package tenancy

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/multitracer"
	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/singleflight"
)

// DB is the product's database. Its connections are reached through InTx and
// the functions of this package, and in no other way.
type DB struct {
	pool     *pgxpool.Pool
	template *migrations // the template's own tables in public
	shared   *migrations // the product's
	tenant   *migrations
	options  Options
	log      *slog.Logger
	catchUps singleflight.Group
	failures sync.Map             // Slug → failure: migrations on use that failed
	citus    atomic.Pointer[bool] // nil: not asked yet
	forget   string               // SQL that every transaction ends with
	// base ends with Close: the context of work that outlives its request.
	base context.Context
	stop context.CancelFunc
}

// Options configure Open. Only URL is needed.
type Options struct {
	URL      string
	MaxConns int    // 0: pgx's default
	Name     string // application_name where the URL has none; empty: app
	// Tenant and Shared are the product's migrations: of each tenant's schema,
	// and of its tables in public. nil: none.
	Tenant, Shared fs.FS
	// OnProvision, when not nil, runs in the transaction that makes a tenant,
	// after its migrations, with the search_path on its schema. An error undoes
	// everything. It does not run for a tenant that is there, or is restored.
	OnProvision func(ctx context.Context, tx pgx.Tx, slug Slug) error
	// MaxTenantsPerConn is after how many different tenants a connection is
	// replaced; 0: 250.
	MaxTenantsPerConn int
	// MigrateOnUse migrates a tenant that is behind when it is first used.
	MigrateOnUse bool
	// LogSlower has statements that take longer be logged; 0: none are.
	LogSlower time.Duration
	Logger    *slog.Logger // nil: slog.Default()
	// Configure, when not nil, may change the configuration of every pool.
	Configure func(*pgxpool.Config)
}

const (
	// A connection is replaced now and then, that a change of the server's
	// settings or addresses reaches it.
	connLifetime       = 30 * time.Minute
	connLifetimeJitter = 5 * time.Minute
	connectTimeout     = 5 * time.Second
	// closeTimeout bounds the wait for connections that are in use at Close.
	closeTimeout = 2 * time.Second
)

// Open reads the migrations and prepares the pool. It does not connect: a
// database that is down is an error of the first use, not of Open.
func Open(ctx context.Context, o Options) (*DB, error) {
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	db := &DB{options: o, log: o.Logger}
	if err := db.readMigrations(); err != nil {
		return nil, err
	}
	pool, err := db.newPool(ctx, o.MaxConns)
	if err != nil {
		return nil, err
	}
	db.pool = pool
	db.base, db.stop = context.WithCancel(context.WithoutCancel(ctx))
	return db, nil
}

func (db *DB) readMigrations() (err error) {
	if db.template, err = templateMigrations(); err != nil {
		return fmt.Errorf("tenancy/schema: %w", err)
	}
	if db.shared, err = readMigrations(db.options.Shared); err != nil {
		return fmt.Errorf("schema/shared: %w", err)
	}
	if db.tenant, err = readMigrations(db.options.Tenant); err != nil {
		return fmt.Errorf("schema/tenant: %w", err)
	}
	return nil
}

func (db *DB) newPool(ctx context.Context, conns int) (*pgxpool.Pool, error) {
	config, err := pgxpool.ParseConfig(db.options.URL)
	if err != nil {
		return nil, fmt.Errorf("database URL: %w", err)
	}
	if conns > 0 {
		config.MaxConns = int32(min(conns, 10_000))
	}
	config.MaxConnLifetime, config.MaxConnLifetimeJitter = connLifetime, connLifetimeJitter
	config.ConnConfig.ConnectTimeout = connectTimeout
	config.ConnConfig.BuildContextWatcherHandler = newCanceller
	var failover failover
	config.ConnConfig.DialFunc, config.PingTimeout, config.ConnConfig.OnPgError = dial(), pingTimeout, failover.keep
	config.ConnConfig.Tracer = &tracer{db}
	delete(config.ConnConfig.RuntimeParams, "search_path")
	if config.ConnConfig.RuntimeParams["application_name"] == "" {
		config.ConnConfig.RuntimeParams["application_name"] = cmp.Or(db.options.Name, "app")
	}
	config.AfterConnect = publicOnly
	config.AfterRelease = metFewerThan(cmp.Or(db.options.MaxTenantsPerConn, maxTenantsPerConn))
	if db.options.Configure != nil {
		db.options.Configure(config)
	}
	if _, alone := config.ConnConfig.Tracer.(*tracer); !alone {
		config.ConnConfig.Tracer = multitracer.New(&tracer{db}, config.ConnConfig.Tracer)
	}
	if db.forget == "" {
		db.forget = forget(config.ConnConfig.RuntimeParams)
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("database: %w", err)
	}
	failover.pool.Store(pool)
	return pool, nil
}

// publicOnly makes a tenant's table not exist outside InTx. The search_path is
// not sent as a startup parameter, for a pooler refuses those; behind one this
// statement is harmless, since every client wants the same value.
func publicOnly(ctx context.Context, conn *pgx.Conn) error {
	_, err := conn.Exec(ctx, `SET search_path TO public`)
	return err
}

// Close ends the work that goes on in the background and closes the pool. It
// does not wait for ever for connections in use: a handler that ignores its
// context must not keep the process from ending.
func (db *DB) Close() {
	db.stop()
	closePool(db.pool)
}

func closePool(pool *pgxpool.Pool) {
	closed := make(chan struct{})
	go func() { pool.Close(); close(closed) }()
	select {
	case <-closed:
	case <-time.After(closeTimeout):
	}
}
