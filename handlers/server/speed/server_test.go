package speed

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	_ "net/http/pprof" // on the address of the bare Echo
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/labstack/echo/v4"

	"example.com/subproduct/handlers/config"
	"example.com/subproduct/handlers/server"
	"example.com/subproduct/tenancy"
)

const conns = 16 // of the server, and of the bare Echo

var notes = fstest.MapFS{"000001_notes.up.sql": &fstest.MapFile{Data: []byte(`
	CREATE TABLE notes (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, title text NOT NULL, created_at timestamptz NOT NULL DEFAULT now())`)}}

type note struct {
	ID        int64     `json:"id"`
	Title     string    `json:"title"`
	CreatedAt time.Time `json:"createdAt"`
}

const newest = `SELECT id, title, created_at FROM notes ORDER BY id DESC LIMIT 100`

// many are texts of their own for the server and for PostgreSQL.
var many = func() (all []string) {
	for i := range 50 {
		all = append(all, strings.Replace(newest, "notes", fmt.Sprintf("notes AS n%d", i), 1))
	}
	return all
}()

// serve is the server process: the product's server on one address, a bare Echo
// with the same session lookup and query on another. It ends with its input.
func serve() error {
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		_, _ = bufio.NewReader(os.Stdin).ReadByte()
		cancel()
	}()
	limit, err := fixed(ctx, 8)
	if err != nil {
		return err
	}
	bare, err := bareEcho(ctx)
	if err != nil {
		return err
	}
	app, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	other, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	go func() { check((&http.Server{Handler: bare}).Serve(other)) }()
	settings, err := config.Load(func(name string) (string, bool) { return os.LookupEnv(name) }, nil)
	if err != nil {
		return err
	}
	fmt.Println(app.Addr(), other.Addr())
	product := server.Product{Name: "Speed", Slug: "speed", TenantSchema: notes, Routes: func(r server.Routes) { routes(r, limit) }}
	log := slog.New(slog.NewJSONHandler(discard{}, nil)) // lines are made, and not kept
	options := server.Options{Database: func(o *tenancy.Options) { o.Configure = countTrips }}
	if os.Getenv("SPEED_LOG") != "" {
		log = slog.New(slog.NewTextHandler(os.Stderr, nil))
	}
	return server.Serve(ctx, product, settings, app, log, options)
}

type discard struct{}

func (discard) Write(b []byte) (int, error) { return len(b), nil }

// fixed is a pool on the tables of one tenant.
func fixed(ctx context.Context, conns int32) (*pgxpool.Pool, error) {
	c, err := pgxpool.ParseConfig(os.Getenv("DATABASE_URL"))
	if err != nil {
		return nil, err
	}
	c.MaxConns = conns
	c.ConnConfig.RuntimeParams["search_path"] = "tenant_t0,public"
	countTrips(c)
	return pgxpool.NewWithConfig(ctx, c)
}

type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

func read(ctx context.Context, q querier, sql string) ([]note, error) {
	rows, err := q.Query(ctx, sql)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[note])
}

func routes(r server.Routes, limit *pgxpool.Pool) {
	var n atomic.Int64
	one := func(q querier) echo.HandlerFunc {
		return respond(func(ctx context.Context) ([]note, error) { return read(ctx, q, newest) })
	}
	any50 := func(q querier) echo.HandlerFunc {
		return respond(func(ctx context.Context) ([]note, error) { return read(ctx, q, many[n.Add(1)%50]) })
	}
	intx := func(times int) echo.HandlerFunc {
		return respond(func(ctx context.Context) (found []note, err error) {
			err = r.DB.InTx(ctx, func(tx pgx.Tx) error {
				for i := range times {
					if found, err = read(ctx, tx, many[i]); err != nil {
						return err
					}
				}
				return nil
			})
			return found, err
		})
	}
	r.User.GET("/api/stuck", func(c echo.Context) error {
		return r.DB.InTx(c.Request().Context(), func(tx pgx.Tx) error {
			_, err := tx.Exec(c.Request().Context(), `SELECT pg_sleep(3600)`)
			return err
		})
	})
	r.User.GET("/api/limit", one(limit))
	r.User.GET("/api/query", one(r.DB))
	r.User.GET("/api/limit50", any50(limit))
	r.User.GET("/api/query50", any50(r.DB))
	r.User.GET("/api/intx", intx(1))
	r.User.GET("/api/intx3", intx(3))
	r.User.GET("/api/limit3", respond(func(ctx context.Context) (found []note, err error) {
		err = pgx.BeginFunc(ctx, limit, func(tx pgx.Tx) error {
			for i := range 3 {
				if found, err = read(ctx, tx, many[i]); err != nil {
					return err
				}
			}
			return nil
		})
		return found, err
	}))
}

func respond(find func(context.Context) ([]note, error)) echo.HandlerFunc {
	return func(c echo.Context) error {
		found, err := find(c.Request().Context())
		if err != nil {
			return err
		}
		return c.JSON(http.StatusOK, map[string][]note{"notes": found})
	}
}

// bareEcho has nothing but the session's lookup, and the query.
func bareEcho(ctx context.Context) (*echo.Echo, error) {
	pool, err := fixed(ctx, conns)
	if err != nil {
		return nil, err
	}
	e := echo.New()
	e.GET("/", func(c echo.Context) error {
		cookie, err := c.Cookie("session")
		if err != nil {
			return err
		}
		sum := sha256.Sum256([]byte(cookie.Value))
		var data []byte
		var slug string
		err = pool.QueryRow(c.Request().Context(), `
			SELECT s.data, t.slug FROM public.sessions s LEFT JOIN public.tenants t ON t.slug = s.tenant_slug
			WHERE s.token_hash = $1 AND s.expires_at > now() AND t.status = 'active'`, sum[:]).Scan(&data, &slug)
		var session map[string]any
		if err != nil || json.Unmarshal(data, &session) != nil {
			return err
		}
		found, err := read(c.Request().Context(), pool, newest)
		if err != nil {
			return err
		}
		return c.JSON(http.StatusOK, map[string][]note{"notes": found})
	})
	e.GET("/debug/pprof/*", echo.WrapHandler(http.DefaultServeMux))
	e.GET("/cost", func(c echo.Context) error {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return c.String(http.StatusOK, fmt.Sprintln(m.Mallocs, trips.Load()))
	})
	return e, nil
}

var trips atomic.Int64

// countTrips counts how often a connection stopped writing and began to read.
func countTrips(c *pgxpool.Config) {
	dial := c.ConnConfig.DialFunc
	c.ConnConfig.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := dial(ctx, network, addr)
		return &counted{Conn: conn}, err
	}
}

type counted struct {
	net.Conn
	wrote atomic.Bool
}

func (c *counted) Write(b []byte) (int, error) { c.wrote.Store(true); return c.Conn.Write(b) }

func (c *counted) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if n > 0 && c.wrote.Swap(false) {
		trips.Add(1)
	}
	return n, err
}

// running is the server process.
type running struct {
	app, bare string
	pid       int
	postgres  int // the parent of the backends
	database  string
	env       []string
}

func startServer(b *testing.B, url string) *running {
	b.Helper()
	s := &running{database: url, env: append(os.Environ(), "DATABASE_URL="+url, "APP_SLUG=speed", "PUBLIC_URL=http://localhost:8080",
		"PLATFORM_URL=http://localhost:1", "PLATFORM_BASE_URL=http://localhost:1", "PLATFORM_API_KEY=key-of-the-benchmark",
		"WEBHOOK_SECRET=secret-of-the-benchmark", "DATABASE_MAX_CONNS="+strconv.Itoa(conns), "LOGIN_RATE_LIMIT=0")}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(s.env, "SPEED_ROLE=server")
	cmd.Stderr = os.Stderr
	input, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	output, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = input.Close(); _ = cmd.Wait() })
	if _, err := fmt.Fscan(output, &s.app, &s.bare); err != nil {
		b.Fatal(err)
	}
	s.pid, s.postgres = cmd.Process.Pid, parentOfBackends(b, url)
	for {
		answer, err := http.Get("http://" + s.app + "/healthz")
		if err == nil && answer.StatusCode == http.StatusOK {
			return s
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// spawn runs this program in a role and returns what it prints.
func (s *running) spawn(b *testing.B, role string, env ...string) []byte {
	b.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(append(s.env, "SPEED_ROLE="+role), env...)
	cmd.Stderr = os.Stderr
	output, err := cmd.Output()
	if err != nil {
		b.Fatal(err)
	}
	return output
}

func parentOfBackends(b *testing.B, url string) int {
	b.Helper()
	conn, err := pgx.Connect(b.Context(), url)
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close(b.Context())
	var pid int
	if err := conn.QueryRow(b.Context(), `SELECT pg_backend_pid()`).Scan(&pid); err != nil {
		b.Fatal(err)
	}
	return parent(pid)
}

// backends returns PostgreSQL's seconds of processor time, and the memory of
// its own of the largest backend, in MiB.
func (s *running) backends() (seconds, most float64) {
	all, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, path := range all {
		line, _ := os.ReadFile(path)
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if !strings.HasPrefix(string(line), "postgres:") || parent(pid) != s.postgres {
			continue
		}
		seconds += processor(pid)
		text, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "statm"))
		var size, resident, shared float64
		if _, err := fmt.Sscan(string(text), &size, &resident, &shared); err == nil {
			most = max(most, (resident-shared)*4096/(1<<20))
		}
	}
	return seconds, most
}
