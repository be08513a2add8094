package tenancy

import (
	"context"
	"slices"
	"sync"

	"github.com/jackc/pgx/v5"
)

// Deliveries that arrive while others are being written are written together,
// in one statement and one commit: nobody waits for company, and a flood costs
// the database a fraction. These bound what one statement holds, and how many
// are on their way.
const (
	maxBatchRows  = 64
	maxBatchBytes = 1 << 20
	maxBatches    = 2
)

// batcher collects rows for the next statement.
type batcher struct {
	mu      sync.Mutex
	waiting []*row
	writing int // batches on their way
}

// row is an event to be stored, and who waits for that.
type row struct {
	Delivery
	judged Stored
	sum    []byte
	ctx    context.Context
	answer chan answer
}

type answer struct {
	Stored
	err error
}

// insert stores an event as it was judged. It returns pgx.ErrNoRows when the
// same bytes are there already, and ctx's error when it cannot wait any longer:
// then the event may be stored or not.
func (in *Inbox) insert(ctx context.Context, d Delivery, judged Stored, sum []byte) (Stored, error) {
	r := &row{d, judged, sum, ctx, make(chan answer)}
	if in.batch.add(r) {
		go in.writeBatches()
	}
	select {
	case a := <-r.answer:
		return a.Stored, a.err
	case <-ctx.Done():
		return Stored{}, ctx.Err()
	}
}

// add reports whether its caller has to see to a writer.
func (b *batcher) add(r *row) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.waiting = append(b.waiting, r)
	if b.writing == maxBatches {
		return false
	}
	b.writing++
	return true
}

// writeBatches writes until nothing is waiting.
func (in *Inbox) writeBatches() {
	for rows := in.batch.take(); len(rows) > 0; rows = in.batch.take() {
		ids, err := in.write(rows)
		for _, r := range rows {
			in.reply(r, ids, err)
		}
	}
}

// reply tells who waits. An event whose sender has gone away is the worker's.
func (in *Inbox) reply(r *row, ids map[string]int64, err error) {
	a := answer{r.judged, err}
	a.ID = ids[string(r.sum)]
	a.marked = a.ID != 0 && a.Status == EventPending
	if err == nil && a.ID == 0 {
		a.err = pgx.ErrNoRows
	}
	delete(ids, string(r.sum)) // a copy in the same batch was not stored
	select {
	case r.answer <- a:
	case <-r.ctx.Done():
		if a.marked {
			in.release(a.ID)
		}
	}
}

// take returns the next batch; when there is none its caller is done.
func (b *batcher) take() []*row {
	b.mu.Lock()
	defer b.mu.Unlock()
	n, size := 0, 0
	for n < min(len(b.waiting), maxBatchRows) && (n == 0 || size+len(b.waiting[n].Body) <= maxBatchBytes) {
		size += len(b.waiting[n].Body)
		n++
	}
	if n == 0 {
		b.writing--
	}
	rows := slices.Clone(b.waiting[:n])
	b.waiting = slices.Delete(b.waiting, 0, n)
	return rows
}

// write stores the rows whose bytes are new and returns their ids by their
// hashes. What is pending is put on record as being tried, else it is finished
// at once. The ids go in the order in which the rows came, for that is the order
// in which a tenant's events are applied; the rows go in the order of their
// hashes, for two replicas that store the same two events must not wait for each
// other.
func (in *Inbox) write(rows []*row) (map[string]int64, error) {
	ctx, cancel := context.WithTimeout(in.base, accountTimeout)
	defer cancel()
	var types, slugs, statuses, reasons, signedWith []string
	var bodies, sums [][]byte
	for _, r := range rows {
		types, slugs, statuses = append(types, r.Type), append(slugs, r.judged.Tenant.s), append(statuses, r.judged.Status)
		reasons, signedWith = append(reasons, r.judged.Reason), append(signedWith, r.SignedWith)
		bodies, sums = append(bodies, r.Body), append(sums, r.sum)
	}
	stored, err := in.db.pool.Query(ctx, `
		WITH e AS MATERIALIZED (
			SELECT nextval('public.webhook_events_id_seq') AS id, r.*
			FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bytea[], $6::bytea[], $7::text[])
				AS r (type, slug, status, reason, body, sum, signed_with)
		)
		INSERT INTO public.webhook_events
			(id, event_type, tenant_slug, status, last_error, body, body_sha256, signed_with, next_attempt_at, started_at, processed_at)
		OVERRIDING SYSTEM VALUE
		SELECT e.id, e.type, nullif(e.slug, ''), e.status, nullif(e.reason, ''), e.body, e.sum, e.signed_with,
			now() + make_interval(secs => $8),
			CASE WHEN e.status = 'pending' THEN now() END, CASE WHEN e.status <> 'pending' THEN now() END
		FROM e ORDER BY e.sum
		ON CONFLICT (body_sha256) WHERE newest DO NOTHING
		RETURNING id, body_sha256`,
		types, slugs, statuses, reasons, bodies, sums, signedWith, in.options.Lease.Seconds())
	if err != nil {
		return nil, err
	}
	ids := make(map[string]int64, len(rows))
	var id int64
	var sum []byte
	_, err = pgx.ForEachRow(stored, []any{&id, &sum}, func() error { ids[string(sum)] = id; return nil })
	return ids, err
}
