package metrics

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/singleflight"

	"example.com/subproduct/tenancy"
	"example.com/subproduct/tenancy/inbox"
	"example.com/subproduct/tenancy/jobs"
)

// Database is where the metrics of the database come from.
type Database struct {
	Up         func() bool                         // what the health probe says
	Pools      func() map[string]tenancy.PoolStats // by name; nil: none
	Statistics func(context.Context) (inbox.Statistics, error)
	Jobs       func(context.Context) (jobs.Counts, error) // nil: there are none
	MaxAge     time.Duration                              // of Statistics; below it they are not read again
}

const (
	// scrapeTimeout is how long a scrape waits for the database.
	scrapeTimeout = time.Second
	// readTimeout bounds a reading that no scrape waits for any more.
	readTimeout = 5 * time.Second
)

// Watch adds the metrics of the database.
func (m *Metrics) Watch(d Database) {
	if m != nil {
		m.Register(&database{Database: d})
	}
}

// database reads when it is scraped, and not while nobody asks.
type database struct {
	Database
	flight singleflight.Group
	last   statistics // written and read within a flight
	err    error
	at     time.Time
}

// Describe tells nothing: it could not without asking the database.
func (d *database) Describe(chan<- *prometheus.Desc) {}

// Collect sends what is known of the database. What it alone knows is left out
// while it does not answer: a number from before would be a lie.
func (d *database) Collect(out chan<- prometheus.Metric) {
	out <- gauge(up, boolean(d.Up()))
	if d.Pools != nil {
		for name, stats := range d.Pools() {
			collectPool(out, name, stats)
		}
	}
	s, err := d.statistics()
	if err != nil {
		return
	}
	out <- gauge(readOnly, boolean(s.ReadOnly))
	out <- gauge(webhookEvents, float64(s.Pending), inbox.Pending)
	out <- gauge(webhookEvents, float64(s.Failed), inbox.Failed)
	out <- gauge(oldestPending, s.OldestPending.Seconds())
	failed := 0
	for _, t := range s.Tenants {
		out <- gauge(tenants, float64(t.Count), t.Status, strconv.FormatInt(t.Version, 10))
		failed += t.Failed
	}
	out <- gauge(failedMigrations, float64(failed))
	if d.Jobs != nil {
		out <- gauge(jobCounts, float64(s.jobs.Pending), "pending")
		out <- gauge(jobCounts, float64(s.jobs.Running), "running")
		out <- gauge(jobCounts, float64(s.jobs.Failed), "failed")
		out <- gauge(oldestJob, since(s.jobs.OldestDue))
	}
}

// since is how many seconds ago that was; nil: it never was.
func since(t *time.Time) float64 {
	if t == nil {
		return 0
	}
	return max(0, time.Since(*t).Seconds())
}

func collectPool(out chan<- prometheus.Metric, name string, s tenancy.PoolStats) {
	out <- gauge(connections, float64(s.Acquired), name, "acquired")
	out <- gauge(connections, float64(s.Idle), name, "idle")
	out <- gauge(connections, float64(s.Constructing), name, "constructing")
	out <- gauge(maxConnections, float64(s.Max), name)
	out <- prometheus.MustNewConstSummary(acquireSeconds, uint64(max(s.Acquires, 0)), s.AcquireTime.Seconds(), nil, name)
}

var errSlow = errors.New("the database takes too long")

// statistics are what is read of the database.
type statistics struct {
	inbox.Statistics
	jobs jobs.Counts
}

func (d *database) read(ctx context.Context) (s statistics, err error) {
	s.Statistics, err = d.Statistics(ctx)
	if err == nil && d.Jobs != nil {
		s.jobs, err = d.Jobs(ctx)
	}
	return s, err
}

// statistics are those that were read less than MaxAge ago, or new ones. Scrapes
// at the same time share a reading.
func (d *database) statistics() (statistics, error) {
	reading := d.flight.DoChan("", func() (any, error) {
		if d.at.IsZero() || time.Since(d.at) >= d.MaxAge {
			ctx, cancel := context.WithTimeout(context.Background(), readTimeout)
			defer cancel()
			d.last, d.err = d.read(ctx)
			d.at = time.Now()
		}
		return d.last, d.err
	})
	select {
	case r := <-reading:
		s, _ := r.Val.(statistics)
		return s, r.Err
	case <-time.After(scrapeTimeout):
		return statistics{}, errSlow
	}
}
