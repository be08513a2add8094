package tenancy

import (
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/singleflight"

	"example.com/subproduct/schema"
)

// DB is the product's database. Its connections are reached through InTx and
// the functions of this package, and in no other way.
type DB struct {
	pool     *pgxpool.Pool
	shared   *migrations
	tenant   *migrations
	options  Options
	log      *slog.Logger
	catchUps singleflight.Group
	failures sync.Map             // Slug → failure: migrations on use that failed
	citus    atomic.Pointer[bool] // nil: not asked yet
	noRoles  atomic.Bool          // the database user may not make roles
	// base ends with Close: the context of work that outlives its request.
	base context.Context
	stop context.CancelFunc
}

// Options configure Open. Only URL is needed.
type Options struct {
	URL      string
	MaxConns int // 0: pgx's default
	// TenantRoles gives each tenant a database role of its own; see roles.go.
	TenantRoles bool
	// MaxTenantsPerConn is after how many different tenants a connection is
	// replaced; 0: 250.
	MaxTenantsPerConn int
	// MigrateOnUse migrates a tenant that is behind when it is first used.
	MigrateOnUse bool
	// Shared and Tenant are the migrations; nil: those of the package schema.
	Shared, Tenant fs.FS
	Logger         *slog.Logger // nil: slog.Default()
	// OnProvision, when not nil, is the last step of every provisioning, in its
	// transaction and on the tenant's data. It may run again for a tenant that
	// is there.
	OnProvision func(ctx context.Context, tx pgx.Tx, slug Slug) error
	// Configure, when not nil, may change the pool's configuration.
	Configure func(*pgxpool.Config)
}

const (
	// A connection is replaced now and then, that a change of the server's
	// settings or addresses reaches it.
	connLifetime       = 30 * time.Minute
	connLifetimeJitter = 5 * time.Minute
	connectTimeout     = 5 * time.Second
)

// Open reads the migrations and prepares the pool. It does not connect: a
// database that is down is an error of the first use, not of Open.
func Open(ctx context.Context, o Options) (*DB, error) {
	if o.Shared == nil {
		o.Shared = schema.Shared()
	}
	if o.Tenant == nil {
		o.Tenant = schema.Tenant()
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	shared, err := readMigrations(o.Shared)
	if err != nil {
		return nil, fmt.Errorf("schema/shared: %w", err)
	}
	tenant, err := readMigrations(o.Tenant)
	if err != nil {
		return nil, fmt.Errorf("schema/tenant: %w", err)
	}
	config, err := poolConfig(o)
	if err != nil {
		return nil, err
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("database: %w", err)
	}
	base, stop := context.WithCancel(context.WithoutCancel(ctx))
	return &DB{pool: pool, shared: shared, tenant: tenant, options: o, log: o.Logger, base: base, stop: stop}, nil
}

func poolConfig(o Options) (*pgxpool.Config, error) {
	config, err := pgxpool.ParseConfig(o.URL)
	if err != nil {
		return nil, fmt.Errorf("database URL: %w", err)
	}
	if o.MaxConns > 0 {
		config.MaxConns = int32(min(o.MaxConns, 10_000))
	}
	config.MaxConnLifetime, config.MaxConnLifetimeJitter = connLifetime, connLifetimeJitter
	config.ConnConfig.ConnectTimeout = connectTimeout
	delete(config.ConnConfig.RuntimeParams, "search_path")
	if config.ConnConfig.RuntimeParams["application_name"] == "" {
		config.ConnConfig.RuntimeParams["application_name"] = "subproduct"
	}
	config.AfterConnect = publicOnly
	config.AfterRelease = metFewerThan(orDefault(o.MaxTenantsPerConn, maxTenantsPerConn))
	if o.Configure != nil {
		o.Configure(config)
	}
	return config, nil
}

// publicOnly makes a tenant's table not exist outside InTx. The search_path is
// not sent as a startup parameter, for a pooler refuses those; behind one this
// statement is harmless, since every client wants the same value.
func publicOnly(ctx context.Context, conn *pgx.Conn) error {
	_, err := conn.Exec(ctx, `SET search_path TO public`)
	return err
}

// Close ends the work that goes on in the background, waits for the connections
// that are in use and closes the pool.
func (db *DB) Close() {
	db.stop()
	db.pool.Close()
}
