package tenancy

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"example.com/subproduct/tenancy/lanes"
)

// Usage is what one request has cost at the database so far.
type Usage struct {
	request                       string
	statements, database, waiting atomic.Int64
	holds                         lanes.Holder // connections, now

	mu   sync.Mutex
	open []*tenantTx // of DB.Query: their rows are not closed yet
}

type usageKey struct{}

// WithUsage returns a context whose statements are counted. request names it
// where a slow statement is logged.
func WithUsage(ctx context.Context, request string) (context.Context, *Usage) {
	u := &Usage{request: request}
	return context.WithValue(ctx, usageKey{}, u), u
}

// usageOf is nil where nobody counts.
func usageOf(ctx context.Context) *Usage {
	u, _ := ctx.Value(usageKey{}).(*Usage)
	return u
}

// Statements is how many statements were sent, COMMIT included.
func (u *Usage) Statements() int64 { return u.statements.Load() }

// Database is how long their answers took, until the last row was read.
func (u *Usage) Database() time.Duration { return time.Duration(u.database.Load()) }

// Waiting is how long it took to get connections.
func (u *Usage) Waiting() time.Duration { return time.Duration(u.waiting.Load()) }

// CountShared counts a statement that ctx's request has waited for since began,
// and that was sent in another request's name.
func CountShared(ctx context.Context, began time.Time) {
	if u := usageOf(ctx); u != nil {
		u.statements.Add(1)
		u.database.Add(int64(time.Since(began)))
	}
}

// span is the context of one statement, or of the wait for a connection.
type span struct {
	context.Context
	began time.Time
	sql   string
	usage *Usage // nil: nobody counts
	waits bool   // for a connection: what goes on within is the wait's
	ended bool   // pgx may say so twice
}

type spanKey struct{}

func (s *span) Value(key any) any {
	switch key {
	case spanKey{}:
		return s
	case usageKey{}:
		return s.counter()
	}
	return s.Context.Value(key)
}

// counter is nil within a wait.
func (s *span) counter() *Usage {
	if s.waits {
		return nil
	}
	return s.usage
}

// acquire has a connection of the lanes, in the name of ctx's request, and counts
// the wait for it.
func (db *DB) acquire(ctx context.Context, slug Slug) (*lanes.Conn, error) {
	wait := beginWait(ctx)
	defer wait.endWait()
	var by *lanes.Holder
	if wait.usage != nil {
		by = &wait.usage.holds
	}
	conn, err := db.lanes.Acquire(wait, slug.s, by)
	if err != nil {
		return nil, fmt.Errorf("begin: %w", err)
	}
	return conn, nil
}

func beginWait(ctx context.Context) *span {
	return &span{Context: ctx, began: time.Now(), usage: usageOf(ctx), waits: true}
}

func (s *span) endWait() {
	if s.usage != nil {
		s.usage.waiting.Add(int64(time.Since(s.began)))
	}
}

func begin(ctx context.Context, sql string, statements int) context.Context {
	u := usageOf(ctx)
	if u != nil {
		u.statements.Add(int64(statements))
	}
	return &span{Context: ctx, began: time.Now(), sql: sql, usage: u}
}

// tracer measures statements and waits. One allocation each is what it costs.
type tracer struct{ db *DB }

var _ interface {
	pgx.QueryTracer
	pgx.BatchTracer
	pgx.CopyFromTracer
	pgxpool.AcquireTracer
} = (*tracer)(nil)

func (t *tracer) TraceQueryStart(ctx context.Context, _ *pgx.Conn, d pgx.TraceQueryStartData) context.Context {
	return begin(ctx, d.SQL, 1)
}

func (t *tracer) TraceQueryEnd(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryEndData) { t.end(ctx) }

// TraceBatchStart names a batch by its last statement: those that open a
// transaction come first.
func (t *tracer) TraceBatchStart(ctx context.Context, _ *pgx.Conn, d pgx.TraceBatchStartData) context.Context {
	sql := ""
	if n := d.Batch.Len(); n > 0 {
		sql = d.Batch.QueuedQueries[n-1].SQL
	}
	return begin(ctx, sql, d.Batch.Len())
}

func (t *tracer) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}

func (t *tracer) TraceBatchEnd(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchEndData) { t.end(ctx) }

func (t *tracer) TraceCopyFromStart(ctx context.Context, _ *pgx.Conn, d pgx.TraceCopyFromStartData) context.Context {
	return begin(ctx, "COPY "+strings.Join(d.TableName, "."), 1)
}

func (t *tracer) TraceCopyFromEnd(ctx context.Context, _ *pgx.Conn, _ pgx.TraceCopyFromEndData) {
	t.end(ctx)
}

func (t *tracer) TraceAcquireStart(ctx context.Context, _ *pgxpool.Pool, _ pgxpool.TraceAcquireStartData) context.Context {
	return beginWait(ctx)
}

func (t *tracer) TraceAcquireEnd(ctx context.Context, _ *pgxpool.Pool, _ pgxpool.TraceAcquireEndData) {
	if s, ok := ctx.Value(spanKey{}).(*span); ok {
		s.endWait()
	}
}

func (t *tracer) end(ctx context.Context) {
	s, ok := ctx.Value(spanKey{}).(*span)
	if !ok || s.ended {
		return
	}
	s.ended = true
	took := time.Since(s.began)
	if s.usage != nil {
		s.usage.database.Add(int64(took))
	}
	if slow := t.db.options.LogSlower; slow > 0 && took > slow {
		t.logSlow(s, took)
	}
}

// maxLoggedSQL bounds what is logged of a statement, in bytes.
const maxLoggedSQL = 1000

// logSlow logs the statement as it was written, with $1 where its values go:
// they are customers' data.
func (t *tracer) logSlow(s *span, took time.Duration) {
	sql := strings.Join(strings.Fields(s.sql), " ")
	attrs := []slog.Attr{
		slog.Float64("took_ms", float64(took.Microseconds())/1000),
		slog.String("sql", strings.ToValidUTF8(sql[:min(len(sql), maxLoggedSQL)], "")),
	}
	if tenant, err := TenantFrom(s); err == nil {
		attrs = append(attrs, slog.String("tenant", tenant.Slug.String()))
	}
	if s.usage != nil {
		attrs = append(attrs, slog.String("request_id", s.usage.request))
	}
	t.db.log.LogAttrs(s, slog.LevelWarn, "slow statement", attrs...)
}
