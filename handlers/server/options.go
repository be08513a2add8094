package server

import (
	"io/fs"
	"time"

	"example.com/subproduct/handlers/metrics"
	"example.com/subproduct/tenancy"
	"example.com/subproduct/tenancy/inbox"
)

// Options are what only development and tests set, but for the first two.
type Options struct {
	Version    string       // of the program, for the metrics
	LogDropped func() int64 // how many lines the log has dropped, for the metrics; nil: it drops none
	// Source is the source tree. Where it is given, templates/ and static/ are
	// read from it anew for each request.
	Source fs.FS
	// ShowCauses shows on an error page what the log says.
	ShowCauses bool
	// Database may change how the database is opened.
	Database func(*tenancy.Options)
	// Inbox tunes the inbox; Retention, Logger, Conns and Observe are not taken
	// from here.
	Inbox inbox.Options
	// NoJobs leaves the jobs to somebody else: to other replicas, or to a test
	// that runs what is due.
	NoJobs bool
	// StatisticsAge is how old the metrics may be that come from the database; 0:
	// 15 s.
	StatisticsAge time.Duration

	metrics *metrics.Metrics // nil: METRICS_ADDR is not set
}
