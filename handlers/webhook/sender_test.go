package webhook_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"example.com/subproduct/handlers/platform"
	"example.com/subproduct/tenancy/localpg/pgtest"
)

// answer is what a sender hears of one delivery; code 0 when it hears nothing.
type answer struct {
	code int
	body string
	took time.Duration
	err  error
}

func (a answer) acknowledged() bool { return a.code/100 == 2 }

// deliverTo posts a signed body once, with the platform's answerTimeout.
func deliverTo(url, body string) answer {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	began := time.Now()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url+path, strings.NewReader(body))
	if err != nil {
		return answer{err: err}
	}
	request.Header.Set(platform.SignatureHeader, platform.Sign(secret, []byte(body)))
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return answer{took: time.Since(began), err: err}
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return answer{response.StatusCode, string(text), time.Since(began), err}
}

// send delivers as the platform does: 5 seconds, and at most 3 retries. It
// returns the last answer, with the time that the slowest took.
func send(url func() string, body string) (last answer) {
	var slowest time.Duration
	for try := range 4 {
		time.Sleep(time.Duration(try) * 300 * time.Millisecond)
		last = deliverTo(url(), body)
		slowest = max(slowest, last.took)
		if last.acknowledged() {
			break
		}
	}
	last.took = slowest
	return last
}

// expect delivers once and wants this answer, within the platform's 5 seconds.
func expect(t *testing.T, r *replica, body string, code int) {
	t.Helper()
	if a := deliverTo(r.url, body); a.code != code || a.took >= 5*time.Second {
		t.Errorf("%s: %d %q after %v (%v), want %d", body, a.code, a.body, a.took, a.err, code)
	}
}

func event(eventType, slug string, n int) string {
	return fmt.Sprintf(`{"eventType":%q,"tenantSlug":%q,"n":%d}`, eventType, slug, n)
}

// base is a database in which effects can be counted.
type base struct {
	t   testing.TB
	url string
}

func newBase(t testing.TB) *base { t.Helper(); return baseAt(t, pgtest.URL(t)) }

func baseAt(t testing.TB, url string) *base {
	t.Helper()
	b := &base{t, url}
	b.exec(`CREATE TABLE public.effects (body text NOT NULL)`)
	return b
}

func (b *base) exec(sql string) {
	b.t.Helper()
	conn := b.connect()
	defer conn.Close(context.Background())
	if _, err := conn.Exec(context.Background(), sql); err != nil {
		b.t.Fatal(err)
	}
}

func (b *base) connect() *pgx.Conn {
	b.t.Helper()
	conn, err := pgx.Connect(context.Background(), b.url)
	if err != nil {
		b.t.Fatal(err)
	}
	return conn
}

// ask reads one value as text.
func (b *base) ask(sql string, args ...any) (value string) {
	b.t.Helper()
	conn := b.connect()
	defer conn.Close(context.Background())
	if err := conn.QueryRow(context.Background(), `SELECT coalesce((`+sql+`)::text, 'none')`, args...).Scan(&value); err != nil {
		b.t.Fatal(err)
	}
	return value
}

func (b *base) status(body string) string {
	b.t.Helper()
	return b.ask(`SELECT status FROM public.webhook_events WHERE body = convert_to($1, 'UTF8') AND newest`, body)
}

func (b *base) awaitStatus(body, status string) {
	b.t.Helper()
	await(b.t, body+" is "+status, func() bool { return b.status(body) == status })
}

// wantEffects wants the event to have happened so many times.
func (b *base) wantEffects(body string, n int) {
	b.t.Helper()
	if got := b.ask(`SELECT count(*) FROM public.effects WHERE body = $1`, body); got != fmt.Sprint(n) {
		b.t.Errorf("%s has %s effects, want %d", body, got, n)
	}
}

// asleep reports whether a pg_sleep runs.
func (b *base) asleep() bool {
	return b.ask(`SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'`) != "0"
}

// folder holds one migration.
func folder(t testing.TB, sql string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "000001_test.up.sql"), []byte(sql), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

const plain = `CREATE TABLE things (id bigint PRIMARY KEY)`
