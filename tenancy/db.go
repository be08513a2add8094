package tenancy

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/multitracer"
	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/singleflight"

	"example.com/subproduct/tenancy/lanes"
	"example.com/subproduct/tenancy/microbatch"
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
	failover failover
	catchUps singleflight.Group
	failures sync.Map             // Slug → failure: migrations on use that failed
	citus    atomic.Pointer[bool] // nil: not asked yet
	forget   []string             // what every transaction ends with
	lanes    *lanes.Lanes         // the connections of the requests
	sessions *pgxpool.Pool        // and of what waits for nobody: finding sessions and tenants
	lookups  microbatch.Queue[*lookup]
	tracer   pgx.QueryTracer // of the product's statements; may be nil
	// statements are the texts of the product's statements.
	statements statements
	// keepsStatements: a pooler does, says the URL, which names a mode.
	keepsStatements bool
	countTables     sync.Once
	tablesSeen      atomic.Int64 // a tenant's tables; 0: not known yet
	// base ends with Close: the context of work that outlives its request.
	base context.Context
	stop context.CancelFunc
}

// Options configure Open. Only URL is needed.
type Options struct {
	URL string
	// MaxConns are connections for what is no request: tenants that are made,
	// migrated and listed. 0: pgx's default. Requests and Sessions are more of
	// them, for InTx and its sisters, which write sessions too, and for finding
	// sessions and tenants; 0: they share those.
	MaxConns, Requests, Sessions int
	Name                         string // application_name where the URL has none; empty: app
	// Tenant and Shared are the product's migrations: of each tenant's schema,
	// and of its tables in public. nil: none.
	Tenant, Shared fs.FS
	// OnProvision, when not nil, runs in the transaction that makes a tenant,
	// after its migrations, with the search_path on its schema. An error undoes
	// everything. It does not run for a tenant that is there, or is restored.
	OnProvision func(ctx context.Context, tx pgx.Tx, slug Slug) error
	// ConnMemory is how many bytes a backend may remember of tenants, about,
	// before its connection is replaced; 0: 128 MiB.
	ConnMemory int
	// MigrateOnUse migrates a tenant that is behind when it is first used.
	MigrateOnUse bool
	// LogSlower has statements that take longer be logged; 0: none are.
	LogSlower time.Duration
	Logger    *slog.Logger    // nil: slog.Default()
	Tracer    pgx.QueryTracer // nil: none; of every connection
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
	db.lookups.AtOnce, db.lookups.Most, db.lookups.Run = lookupsAtOnce, mostLookups, db.findSessions
	if err := db.readMigrations(); err != nil {
		return nil, err
	}
	db.statements.ownRoutines = db.shared.makesRoutines() || db.tenant.makesRoutines()
	if err := db.openPools(ctx); err != nil {
		return nil, err
	}
	db.base, db.stop = context.WithCancel(context.WithoutCancel(ctx))
	return db, nil
}

func (db *DB) readMigrations() (err error) {
	files, _ := fs.Sub(templateFiles, "schema") // it is there
	if db.template, err = readMigrations(files); err != nil {
		return fmt.Errorf("tenancy/schema: %w", err)
	}
	if db.shared, err = readMigrations(db.options.Shared); err != nil {
		return fmt.Errorf("schema/shared: %w", err)
	}
	if db.tenant, err = readMigrations(db.options.Tenant); err == nil {
		err = db.tenant.checkTenants()
	}
	if err != nil {
		return fmt.Errorf("schema/tenant: %w", err)
	}
	db.template.versions, db.shared.versions = templateVersions, sharedVersions
	return nil
}

// openPools makes the pools that Options share the connections out to.
func (db *DB) openPools(ctx context.Context) (err error) {
	if db.pool, err = db.newPool(ctx, db.options.MaxConns); err != nil {
		return err
	}
	db.sessions = db.pool
	if db.options.Sessions > 0 {
		if db.sessions, err = db.newPool(ctx, db.options.Sessions); err != nil {
			return err
		}
	}
	if conns := db.options.Requests; conns > 0 {
		open := func(conns int) (*pgxpool.Pool, error) { return db.newPool(ctx, conns) }
		db.lanes, err = lanes.New(conns, true, db.pool, open)
		return err
	}
	open := func(int) (*pgxpool.Pool, error) { return db.pool, nil }
	db.lanes, err = lanes.New(int(db.pool.Config().MaxConns), false, nil, open)
	return err
}

// Lanes says how the requests' connections are shared out between tenants.
func (db *DB) Lanes() string { return db.lanes.String() }

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
	config.ConnConfig.DialFunc, config.PingTimeout, config.ConnConfig.OnPgError = dial(), pingTimeout, db.failover.keep
	config.ConnConfig.Tracer = &tracer{db}
	delete(config.ConnConfig.RuntimeParams, "search_path")
	if config.ConnConfig.RuntimeParams["application_name"] == "" {
		config.ConnConfig.RuntimeParams["application_name"] = cmp.Or(db.options.Name, "app")
	}
	if db.options.Tracer != nil {
		config.ConnConfig.Tracer = db.options.Tracer
	}
	config.AfterConnect = db.ready
	if db.options.Configure != nil {
		db.options.Configure(config)
	}
	if _, alone := config.ConnConfig.Tracer.(*tracer); !alone {
		config.ConnConfig.Tracer = multitracer.New(&tracer{db}, config.ConnConfig.Tracer)
	}
	if db.pool == nil { // the first: all are alike, and a later one is made while these are read
		db.forget = forgetSQL(config.ConnConfig.RuntimeParams)
		db.tracer = config.ConnConfig.Tracer
		db.keepsStatements = strings.Contains(db.options.URL, "default_query_exec_mode")
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("database: %w", err)
	}
	db.failover.watch(pool)
	return pool, nil
}

// Close ends the work that goes on in the background and closes the pool. It
// does not wait for ever for connections in use: a handler that ignores its
// context must not keep the process from ending.
func (db *DB) Close() {
	db.stop()
	var all sync.WaitGroup
	for _, pool := range append(db.lanes.Pools(), db.pool, db.sessions) {
		all.Go(func() { closePool(pool) })
	}
	all.Wait()
}

func closePool(pool *pgxpool.Pool) {
	closed := make(chan struct{})
	go func() { pool.Close(); close(closed) }()
	select {
	case <-closed:
	case <-time.After(closeTimeout):
	}
}
