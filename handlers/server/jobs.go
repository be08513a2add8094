package server

import (
	"fmt"

	"example.com/subproduct/tenancy/jobs"
)

// Where jobs are declared they take half of the inbox's connections: requests
// have what they have without them.
func jobsConns(total int) int { return max(jobs.LeastConns, inboxConns(total)/2) }

// leastWithJobs is config.LeastConns for a product with jobs.
const leastWithJobs = 10

// declareJobs makes the engine of the product's jobs. It returns an error for a
// declaration that cannot be, and for too few connections.
func (a *app) declareJobs() (err error) {
	var declared []jobs.Declared
	if a.product.Jobs != nil && !a.options.NoJobs {
		declared = a.product.Jobs(a.db)
	}
	total := a.config.DatabaseMaxConns
	if len(declared) > 0 && total < leastWithJobs {
		return unusable(fmt.Errorf("DATABASE_MAX_CONNS is %d: a product with background jobs needs at least %d", total, leastWithJobs))
	}
	a.jobs, err = jobs.New(a.db, declared, jobs.Options{Conns: jobsConns(total), Shutdown: a.config.ShutdownTimeout, Logger: a.log})
	return err
}
