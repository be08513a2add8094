package server

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"example.com/subproduct/handlers/config"
	"example.com/subproduct/handlers/metrics"
	"example.com/subproduct/tenancy"
	"example.com/subproduct/tenancy/jobs"
)

// statisticsAge is below the usual distance between two scrapes.
const statisticsAge = 15 * time.Second

// openMetrics serves /metrics on METRICS_ADDR; it returns nil where that is not
// set, and an error where somebody else has the port.
func openMetrics(ctx context.Context, p Product, c config.Config, o Options, log *slog.Logger) (*metrics.Metrics, error) {
	if c.MetricsAddr == "" {
		return nil, nil
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", c.MetricsAddr)
	if err != nil {
		return nil, fmt.Errorf("METRICS_ADDR: %w", err)
	}
	m := metrics.New(p.Slug, o.Version)
	m.Serve(l, log)
	log.InfoContext(ctx, "metrics", "address", l.Addr().String())
	return m, nil
}

// watch has the parts that count for themselves asked when /metrics is.
func (a *app) watch() {
	a.options.metrics.Expect(webhookPath, http.MethodPost, http.StatusServiceUnavailable) // one such event may be lost
	a.options.metrics.Watch(metrics.Database{
		Up:         a.health.DatabaseUp,
		Pools:      a.pools,
		Statistics: a.inbox.Statistics,
		Jobs:       a.countJobs(),
		MaxAge:     cmp.Or(a.options.StatisticsAge, statisticsAge),
	})
	a.options.metrics.LogDropped(a.options.LogDropped)
}

// countJobs is nil for a product without jobs.
func (a *app) countJobs() func(context.Context) (jobs.Counts, error) {
	if a.product.Jobs == nil {
		return nil
	}
	return func(ctx context.Context) (jobs.Counts, error) { return jobs.Count(ctx, a.db) }
}

// pools are all of a replica's connections; the health probe's one counts as a
// pool.
func (a *app) pools() map[string]tenancy.PoolStats {
	pools := a.db.Pools()
	probe := tenancy.PoolStats{Max: 1}
	if a.health.DatabaseUp() {
		probe.Idle = 1
	}
	pools["inbox"], pools["probe"] = a.inbox.Pool(), probe
	return pools
}
