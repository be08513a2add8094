package tenancy_test

import (
	"database/sql"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/golang-migrate/migrate/v4"
	stock "github.com/golang-migrate/migrate/v4/database/pgx/v5"
	"github.com/golang-migrate/migrate/v4/source/iofs"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	_ "github.com/jackc/pgx/v5/stdlib"

	"example.com/subproduct/tenancy"
	"example.com/subproduct/tenancy/localpg"
	"example.com/subproduct/tenancy/localpg/pgtest"
)

// Each benchmark measures a limit and the product in turns, in one run on one
// durable server, and reports the ratio: what a promise is about.

func durable(b *testing.B) string {
	b.Helper()
	server, err := localpg.Start(b.Context(), localpg.Options{Params: map[string]string{"max_connections": "60"}})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = server.Stop() })
	return server.URL("postgres")
}

// timed adds what fn takes to total.
func timed(b *testing.B, total *time.Duration, fn func() error) {
	b.Helper()
	began := time.Now()
	if err := fn(); err != nil {
		b.Fatal(err)
	}
	*total += time.Since(began)
}

func simple(b *testing.B, conn *pgx.Conn, sql string) func() error {
	return func() error { _, err := conn.PgConn().Exec(b.Context(), sql).ReadAll(); return err }
}

var fiveFiles = func() fs.FS {
	m := fstest.MapFS{}
	for i, name := range []string{"customers", "orders", "lines", "notes", "tags"} {
		sql := fmt.Sprintf("CREATE TABLE %[1]s (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL, at timestamptz NOT NULL DEFAULT now()); CREATE INDEX %[1]s_name ON %[1]s (name)", name)
		m[fmt.Sprintf("%06d_%s.up.sql", i+1, name)] = &fstest.MapFile{Data: []byte(sql)}
	}
	return m
}()

// Provisioning five small files: at most 1.3 × the same SQL as one message.
func BenchmarkProvision(b *testing.B) {
	url := durable(b)
	db := open(b, tenancy.Options{URL: url, Tenant: fiveFiles})
	conn := pgtest.Connect(b, url)
	script, err := tenancy.SchemaScript(fiveFiles)
	if err != nil {
		b.Fatal(err)
	}
	var raw, product time.Duration
	for i := 0; b.Loop(); i++ {
		message := fmt.Sprintf(`BEGIN; CREATE SCHEMA tenant_raw%[1]d; SET LOCAL search_path TO tenant_raw%[1]d, public; %[2]s;
			INSERT INTO public.tenants (slug, schema_version) VALUES ('raw%[1]d', 5); COMMIT`, i, script)
		tenant := slug(b, "own"+strconv.Itoa(i))
		timed(b, &raw, simple(b, conn, message))
		timed(b, &product, func() error { return db.Provision(b.Context(), tenant) })
	}
	b.ReportMetric(product.Seconds()/raw.Seconds(), "×limit(1.3)")
	b.ReportMetric(float64(product.Microseconds())/float64(b.N), "µs/tenant")
}

// Nothing to do for 10,000 tenants: under 20 × one empty query.
func BenchmarkNothingToDo(b *testing.B) {
	url := durable(b)
	db := open(b, tenancy.Options{URL: url, Tenant: versionTwo})
	conn := pgtest.Connect(b, url)
	for _, n := range []int{100, 10_000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			pgtest.Exec(b, url, fmt.Sprintf(`TRUNCATE public.tenants CASCADE;
				INSERT INTO public.tenants (slug, schema_version) SELECT 't' || i, 2 FROM generate_series(1, %d) i; ANALYZE public.tenants`, n))
			var empty, product time.Duration
			for b.Loop() {
				timed(b, &empty, simple(b, conn, ""))
				timed(b, &product, func() error { _, err := db.MigrateTenants(b.Context(), tenancy.FleetOptions{}); return err })
			}
			b.ReportMetric(product.Seconds()/empty.Seconds(), "×limit(20)")
		})
	}
}

// ADD COLUMN on a fleet: at most half of a raw loop with as many connections and
// a transaction for each tenant; and beside golang-migrate's own driver, called
// for each tenant in as many goroutines. BENCH_TENANTS sets how many, 2,000 is
// the promise.
func BenchmarkAddColumn(b *testing.B) {
	n, jobs, sample := tenantsToBench(), 4, 80
	url := durable(b)
	before := open(b, tenancy.Options{URL: url, Tenant: versionOne, MaxConns: jobs})
	fill(b, before, n, jobs)
	var raw, product, own time.Duration
	for b.Loop() {
		timed(b, &raw, func() error { return rawLoop(b, url, n, jobs) })
		after := open(b, tenancy.Options{URL: url, Tenant: versionTwo, MaxConns: jobs})
		timed(b, &product, func() error {
			result, err := after.MigrateTenants(b.Context(), tenancy.FleetOptions{Jobs: jobs})
			if err == nil && result.Migrated != n {
				err = fmt.Errorf("%d of %d migrated", result.Migrated, n)
			}
			return err
		})
		back(b, url, n)
		timed(b, &own, func() error { return stockLoops(b, url, sample, jobs) })
		back(b, url, n)
	}
	b.ReportMetric(product.Seconds()/raw.Seconds(), "×raw(0.5)")
	b.ReportMetric(own.Seconds()/float64(sample)/(product.Seconds()/float64(n)), "×faster-than-stock")
	b.ReportMetric(float64(n*b.N)/product.Seconds(), "tenants/s")
}

func tenantsToBench() int {
	if n, err := strconv.Atoi(os.Getenv("BENCH_TENANTS")); err == nil {
		return n
	}
	return 500
}

func fill(b *testing.B, db *tenancy.DB, n, jobs int) {
	b.Helper()
	var workers sync.WaitGroup
	for j := range jobs {
		workers.Go(func() {
			for i := j; i < n; i += jobs {
				if err := db.Provision(b.Context(), slug(b, "t"+strconv.Itoa(i))); err != nil {
					b.Error(err)
				}
			}
		})
	}
	workers.Wait()
}

// rawLoop adds another column, so that it and the product change the same
// tables and neither undoes the other.
func rawLoop(b *testing.B, url string, n, jobs int) error {
	pool, err := pgxpool.New(b.Context(), url)
	if err != nil {
		return err
	}
	defer pool.Close()
	var workers sync.WaitGroup
	for j := range jobs {
		workers.Go(func() {
			for i := j; i < n; i += jobs {
				sql := fmt.Sprintf(`BEGIN; SET LOCAL search_path TO tenant_t%[1]d, public; ALTER TABLE a ADD COLUMN c text;
					UPDATE schema_migrations SET version = version; UPDATE public.tenants SET updated_at = now() WHERE slug = 't%[1]d'; COMMIT`, i)
				if _, err := pool.Exec(b.Context(), sql); err != nil {
					b.Error(err)
				}
			}
		})
	}
	workers.Wait()
	return nil
}

// back undoes the columns and the versions, in batches that fit the lock table.
func back(b *testing.B, url string, n int) {
	b.Helper()
	conn := pgtest.Connect(b, url)
	for at := 0; at < n; at += 200 {
		var sql strings.Builder
		for i := at; i < min(at+200, n); i++ {
			fmt.Fprintf(&sql, `ALTER TABLE tenant_t%[1]d.a DROP COLUMN IF EXISTS b, DROP COLUMN IF EXISTS c; DELETE FROM tenant_t%[1]d.schema_migrations; INSERT INTO tenant_t%[1]d.schema_migrations VALUES (1, false);`, i)
		}
		if err := simple(b, conn, sql.String())(); err != nil {
			b.Fatal(err)
		}
	}
	if err := simple(b, conn, `UPDATE public.tenants SET schema_version = 1; VACUUM public.tenants`)(); err != nil && !strings.Contains(err.Error(), "VACUUM") {
		b.Fatal(err)
	}
}

// stockLoops is what a fleet costs with golang-migrate as it comes.
func stockLoops(b *testing.B, url string, n, jobs int) error {
	var workers sync.WaitGroup
	for j := range jobs {
		workers.Go(func() {
			if err := stockLoop(url, j*n/jobs, (j+1)*n/jobs); err != nil {
				b.Error(err)
			}
		})
	}
	workers.Wait()
	return nil
}

func stockLoop(url string, from, to int) error {
	source, err := iofs.New(versionTwo, ".")
	if err != nil {
		return err
	}
	for i := from; i < to; i++ {
		pool, err := sql.Open("pgx/v5", fmt.Sprintf("%s&search_path=tenant_t%d", url, i))
		if err != nil {
			return err
		}
		driver, err := stock.WithInstance(pool, &stock.Config{SchemaName: fmt.Sprintf("tenant_t%d", i)})
		if err != nil {
			return err
		}
		m, err := migrate.NewWithInstance("iofs", source, "pgx5", driver)
		if err != nil {
			return err
		}
		if err := m.Up(); err != nil {
			return err
		}
		if err := driver.Close(); err != nil {
			return err
		}
	}
	return nil
}
