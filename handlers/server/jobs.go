package server

import (
	"fmt"

	"example.com/subproduct/handlers/config"
	"example.com/subproduct/tenancy"
	"example.com/subproduct/tenancy/jobs"
)

// split is splitConns for this product: the engine of its jobs, where it has
// any, takes its connections from the requests'. It returns an error where these
// are too few for that.
func (p Product) split(total int, o Options) (split, error) {
	s := splitConns(total)
	if p.Jobs == nil || o.NoJobs || len(p.Jobs(new(tenancy.DB))) == 0 {
		return s, nil
	}
	if least := config.LeastConns + jobs.Conns; total < least {
		return s, unusable(fmt.Errorf("DATABASE_MAX_CONNS is %d: with background jobs it is at least %d", total, least))
	}
	s.jobs, s.requests = jobs.Conns, s.requests-jobs.Conns
	return s, nil
}

// newJobs makes the engine of the product's jobs; their handlers use the
// requests' connections, half of them at most.
func (a *app) newJobs(conns split) (err error) {
	var declared []jobs.Declared
	if conns.jobs > 0 {
		declared = a.product.Jobs(a.db)
	}
	a.jobs, err = jobs.New(a.db, declared, jobs.Options{
		Slots: max(1, conns.requests/2), Shutdown: a.config.ShutdownTimeout, Logger: a.log,
	})
	return err
}
