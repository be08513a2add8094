package inbox

import (
	"context"
	"fmt"
	"time"

	"example.com/subproduct/tenancy"
)

// Statistics are what the database knows of the events and the tenants, whichever
// replica asks.
type Statistics struct {
	ReadOnly        bool // nothing can be written: a standby, or a primary that is closed
	Pending, Failed int  // events
	OldestPending   time.Duration
	Tenants         []TenantCount
}

// TenantCount counts the tenants of one status at one schema version, and those
// among them whose last migration failed.
type TenantCount struct {
	Status        string
	Version       int64
	Count, Failed int
}

// Statistics is ReadStatistics on the inbox's own connections.
func (in *Inbox) Statistics(ctx context.Context) (Statistics, error) {
	return ReadStatistics(ctx, in.system)
}

// ReadStatistics is one statement, which costs what is pending or failed and the
// registry of tenants, and not the events that are finished.
func ReadStatistics(ctx context.Context, system *tenancy.System) (s Statistics, err error) {
	var oldest float64
	err = system.QueryRow(ctx, statisticsSQL).Scan(&s.ReadOnly, &s.Pending, &oldest, &s.Failed, &s.Tenants)
	if err != nil {
		return Statistics{}, fmt.Errorf("statistics: %w", err)
	}
	s.OldestPending = time.Duration(oldest * float64(time.Second))
	return s, nil
}

const statisticsSQL = `
	SELECT current_setting('transaction_read_only') = 'on', p.n, p.oldest,
		(SELECT count(*) FROM public.webhook_events WHERE status = 'failed'),
		(SELECT coalesce(json_agg(t), '[]') FROM (
			SELECT status, schema_version AS version, count(*), count(migrate_error) AS failed
			FROM public.tenants GROUP BY status, schema_version) t)
	FROM (SELECT count(*) AS n, coalesce(extract(epoch FROM now() - min(received_at)), 0)::float8 AS oldest
		FROM public.webhook_events WHERE status = 'pending') p`

// Pool returns how the inbox's own connections are doing.
func (in *Inbox) Pool() tenancy.PoolStats { return in.system.Pool() }

// observe tells Options.Observe what became of an attempt at an event.
func (in *Inbox) observe(eventType string, outcome Outcome) {
	if in.options.Observe == nil {
		return
	}
	if _, known := in.handlers[eventType]; !known {
		eventType = ""
	}
	in.options.Observe(eventType, outcome)
}

// String is the outcome in one word, for metrics.
func (o Outcome) String() string {
	return map[Outcome]string{Applied: Done, Unhandled: Ignored, Accepted: "accepted", FailedOnce: "failed_once", Rejected: Failed}[o]
}
