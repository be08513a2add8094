package server_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/labstack/echo/v4"

	"example.com/subproduct/handlers/handlertest"
	"example.com/subproduct/handlers/handlertest/fixture"
	"example.com/subproduct/handlers/server"
	"example.com/subproduct/tenancy"
	"example.com/subproduct/tenancy/localpg/pgtest"
)

// The property of the whole house, over HTTP and under every fault that there
// is: random tenants in random order, handlers that fail, panic, run into a
// timeout or into SQL errors, clients that hang up, and connections killed in
// the middle of it. Whatever happens, no answer has a row of another tenant,
// and no table has one when it is over.
//
// ISOLATION_REQUESTS sets how many requests are made; the default suits CI.
func TestIsolation_NoForeignRowUnderFaults(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	faultsOver(t, url, url)
}

func TestIsolation_NoForeignRowUnderFaultsThroughAPooler(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	faultsOver(t, url, pgtest.Pooler(t, url))
}

const (
	faultTenants = 50
	faultClients = 32
	killEvery    = 4 // requests
)

// campaign is one run of requests, and what came of them.
type campaign struct {
	left                             atomic.Int64
	kill                             chan struct{}
	rows, served, failed, cut, kills atomic.Int64
}

func faultsOver(t *testing.T, direct, database string) {
	site := handlertest.Start(t, fixture.With(faulty), handlertest.Setup{
		Database: direct,
		Env:      map[string]string{"DATABASE_URL": database, "DATABASE_MAX_CONNS": "12"},
	})
	browsers := make([]*handlertest.Browser, faultTenants)
	for i := range browsers {
		browsers[i] = site.SignIn(t, tenantName(i))
	}
	run := campaign{kill: make(chan struct{})}
	run.left.Store(requests(t))
	var saboteur, clients sync.WaitGroup
	saboteur.Go(func() { run.sabotage(t, direct) })
	for range faultClients {
		clients.Go(func() {
			for n := run.left.Add(-1); n >= 0; n = run.left.Add(-1) {
				if n%killEvery == 0 {
					run.kill <- struct{}{}
				}
				i := rand.IntN(faultTenants)
				run.request(t, browsers[i], tenantName(i))
			}
		})
	}
	clients.Wait()
	close(run.kill)
	saboteur.Wait()
	for i := range faultTenants {
		slug := tenantName(i)
		foreign := handlertest.Query[int](t, site, `SELECT count(*) FROM "tenant_`+slug+`".items WHERE label <> $1`, slug)
		if foreign != 0 {
			t.Errorf("%d rows of others lie in %s's table", foreign, slug)
		}
	}
	t.Logf("%d requests: %d served with %d rows read, %d failed as they should, %d cut off, %d connections killed",
		requests(t), run.served.Load(), run.rows.Load(), run.failed.Load(), run.cut.Load(), run.kills.Load())
	if served := run.served.Load(); served < requests(t)/20 {
		t.Errorf("only %d requests were served: something has broken for good", served)
	}
	if run.rows.Load() == 0 || run.failed.Load() == 0 || run.cut.Load() == 0 || run.kills.Load() == 0 {
		t.Error("a part of the campaign did not take place")
	}
}

// tenantName makes names that would be mixed up if anything were cut or folded.
func tenantName(i int) string { return fmt.Sprintf("t%s-%d", strings.Repeat("_", i), i) }

func requests(t *testing.T) int64 {
	t.Helper()
	text := os.Getenv("ISOLATION_REQUESTS")
	if text == "" {
		return 5000
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// faulty are handlers that write a row, and read all, with every kind of end.
func faulty(r server.Routes) {
	r.User.POST("/api/faulty/:how", func(c echo.Context) error {
		ctx, cancel := context.WithTimeout(c.Request().Context(), 5*time.Second)
		defer cancel()
		tenant, err := tenancy.TenantFrom(ctx)
		if err != nil {
			return err
		}
		var titles []string
		err = r.DB.InTx(ctx, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, `INSERT INTO items (label, created_by) VALUES ($1, 'x')`, tenant.Slug.String()); err != nil {
				return err
			}
			rows, err := tx.Query(ctx, `SELECT label FROM items ORDER BY id DESC LIMIT 20`)
			if err != nil {
				return err
			}
			if titles, err = pgx.CollectRows(rows, pgx.RowTo[string]); err != nil {
				return err
			}
			return misfortune(ctx, cancel, tx, c.Param("how"))
		})
		if err != nil {
			return err
		}
		return c.JSON(http.StatusOK, titles)
	})
}

func misfortune(ctx context.Context, cancel context.CancelFunc, tx pgx.Tx, how string) error {
	switch how {
	case "error":
		return errors.New("on purpose")
	case "panic":
		panic("on purpose")
	case "sql":
		_, err := tx.Exec(ctx, `SELECT nonsense`)
		return err
	case "hidden": // an error that the handler keeps to itself
		_, _ = tx.Exec(ctx, `SELECT 1/0`)
	case "cancelled":
		cancel()
	case "timeout":
		short, done := context.WithTimeout(ctx, time.Millisecond)
		defer done()
		_, err := tx.Exec(short, `SELECT pg_sleep(1)`)
		return err
	case "suicide":
		_, err := tx.Exec(ctx, `SELECT pg_terminate_backend(pg_backend_pid())`)
		return err
	case "slow": // so that a saboteur finds it
		_, err := tx.Exec(ctx, `SELECT pg_sleep(0.005)`)
		return err
	case "leaves": // something on the connection, on purpose, for whoever comes next
		_, err := tx.Exec(ctx, leftovers[rand.IntN(len(leftovers))])
		return err
	case "path": // what a careless query would do
		_, _ = tx.Exec(ctx, `SET LOCAL search_path TO public`)
		return errors.New("on purpose")
	}
	return nil
}

// leftovers would outlive their transaction.
var leftovers = []string{
	`DO $$ BEGIN EXECUTE 'SET search_path TO ' || quote_ident(current_schema) || ', public'; END $$`,
	`CREATE TEMP TABLE items AS SELECT * FROM items`, `CREATE TEMP TABLE scratch AS SELECT * FROM items`, `CREATE TEMP VIEW items AS TABLE items`,
	`DECLARE c CURSOR WITH HOLD FOR SELECT label FROM items`, `DECLARE c CURSOR FOR SELECT label FROM items`,
	`SELECT pg_advisory_lock((random() * 1e9)::bigint)`, `SELECT pg_advisory_xact_lock((random() * 1e9)::bigint)`,
	`SET statement_timeout TO '1ms'`, `SET default_transaction_read_only TO on`, `SET my.secret TO 'x'`, `LISTEN gossip`,
	`PREPARE mine AS SELECT label FROM items`, `SET ROLE pg_monitor`,
}

var fates = []string{"leaves", "leaves", "leaves", "error", "panic", "sql", "hidden", "cancelled", "timeout", "suicide", "slow", "slow", "path", "well", "well", "well", "well", "well", "well"}

// request makes one request of any kind as the tenant.
func (run *campaign) request(t *testing.T, b *handlertest.Browser, slug string) {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	how := fates[rand.IntN(len(fates))]
	if rand.IntN(20) == 0 { // the client hangs up at any moment
		time.AfterFunc(rand.N(3*time.Millisecond), cancel)
	}
	titles, status, err := ask(ctx, b, how)
	switch {
	case err != nil && ctx.Err() != nil:
		run.cut.Add(1)
	case err != nil:
		t.Errorf("%s: %s: %v", slug, how, err)
	case status != http.StatusOK:
		run.failed.Add(1)
		if status < 500 {
			t.Errorf("%s: %s: %d", slug, how, status)
		}
	default:
		run.served.Add(1)
	}
	for _, title := range titles {
		run.rows.Add(1)
		if title != slug {
			t.Errorf("%s sees a row of %s", slug, title)
		}
	}
}

// ask lets a handler run to the fate, and returns what it has read.
func ask(ctx context.Context, b *handlertest.Browser, how string) (titles []string, status int, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, b.URL()+"/api/faulty/"+how, http.NoBody)
	if err != nil {
		return nil, 0, err
	}
	response, err := b.Client.Do(request)
	if err != nil {
		return nil, 0, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		return nil, response.StatusCode, err
	}
	return titles, response.StatusCode, json.Unmarshal(body, &titles)
}

// sabotage kills a random connection of the database for every so many requests:
// by the clock, a slow machine would have none of them served.
func (run *campaign) sabotage(t *testing.T, direct string) {
	conn, err := pgx.Connect(t.Context(), direct)
	if err != nil {
		t.Error(err)
	} else {
		defer conn.Close(context.Background())
	}
	for range run.kill {
		if err != nil {
			continue
		}
		tag, err := conn.Exec(t.Context(), `
			SELECT pg_terminate_backend(pid) FROM pg_stat_activity
			WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
			ORDER BY random() LIMIT 1`)
		if err == nil {
			run.kills.Add(tag.RowsAffected())
		}
	}
}
