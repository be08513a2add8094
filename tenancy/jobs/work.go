package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/riverqueue/river"

	"example.com/subproduct/tenancy"
	"example.com/subproduct/tenancy/panics"
)

// stored are a job's arguments as River sees them.
type stored struct{ kind string }

func (s stored) Kind() string { return s.kind }

func (s *stored) UnmarshalJSON([]byte) error { return nil } // the handler reads them

// worker runs the handlers of all kinds.
type worker struct {
	river.WorkerDefaults[stored]
	engine *Engine
}

// Work runs one attempt, and says to River what is to become of the job.
func (w *worker) Work(ctx context.Context, job *river.Job[stored]) error {
	began := time.Now()
	tenant, err := w.engine.attempt(ctx, job)
	log := w.engine.log.With("job_id", job.ID, "kind", job.Kind, "tenant", tenant, "attempt", job.Attempt,
		"took_ms", time.Since(began).Milliseconds())
	later := laterError(0)
	switch {
	case err == nil:
		log.InfoContext(ctx, "job done")
		return nil
	case errors.As(err, &later):
		return river.JobSnooze(time.Duration(later))
	case errors.Is(context.Cause(ctx), river.ErrJobCancelledRemotely):
		log.WarnContext(ctx, "job cancelled while it ran", "error", err)
		return storable{err}
	case errors.Is(ctx.Err(), context.Canceled):
		log.WarnContext(ctx, "job cut short by the end of the process: it runs again", "error", err)
		return errors.Join(storable{err}, context.Canceled)
	case tenant != "" && (errors.Is(err, tenancy.ErrTenantCancelled) || errors.Is(err, tenancy.ErrUnknownTenant)):
		log.WarnContext(ctx, "job cancelled with its tenant", "error", err)
		return river.JobCancel(storable{err})
	case isPermanent(err):
		job.MaxAttempts = job.Attempt // this was the last one
	}
	if job.Attempt >= job.MaxAttempts {
		log.ErrorContext(ctx, "job failed for good: see `jobs show`, then `jobs retry`", "error", err)
	} else {
		log.WarnContext(ctx, "job failed this time", "error", err)
	}
	return storable{err}
}

// attempt calls the handler, in a context of the job's tenant as it is now.
func (e *Engine) attempt(ctx context.Context, job *river.Job[stored]) (tenant string, err error) {
	var of owner
	if err := json.Unmarshal(job.Metadata, &of); err != nil {
		return "", Permanent(fmt.Errorf("metadata: %w", err))
	}
	handler := e.handlers[job.Kind]
	switch {
	case handler.shared && of.Tenant != "":
		return of.Tenant, Permanent(errors.New("the kind is shared, and this job was inserted for a tenant: use InsertShared"))
	case !handler.shared && of.Tenant == "":
		return "", Permanent(errors.New("the kind is a tenant's, and this job was inserted without one: use Insert"))
	case !handler.shared:
		if ctx, err = e.enter(ctx, of); err != nil {
			return of.Tenant, err
		}
	}
	ctx, used := tenancy.WithUsage(ctx, "job "+strconv.FormatInt(job.ID, 10))
	defer used.End(ctx) // rows that it has left open
	return of.Tenant, panics.AsError(func() error { return handler.run(ctx, job.EncodedArgs) })
}

// mostStuck bounds the handlers that are left behind, in slots.
const mostStuck = 10

// stuck gives the slot of a handler that ignores the end of its time to another
// job: one tenant's would stop those of all.
func (e *Engine) stuck(ctx context.Context, job river.JobStuckHandlerParams) river.JobStuckHandlerResult {
	another := job.TotalStuckJobs <= mostStuck*e.options.Slots
	e.log.ErrorContext(ctx, "a job's handler ignores the end of its time and goes on: its context has ended, mend it",
		"job_id", job.ID, "kind", job.Kind, "handlers_like_this", job.TotalStuckJobs, "slot_replaced", another)
	return river.JobStuckHandlerResult{AddWorkerSlot: another}
}

// owner is whose a job is, as its metadata has it.
type owner struct {
	Tenant   string `json:"tenant"`
	TenantID int64  `json:"tenant_id"`
}

// enter returns a context of the tenant, read fresh. A job may have been inserted
// in a transaction that ended when its tenant was purged already, and the slug
// given again: it is not that one's.
func (e *Engine) enter(ctx context.Context, of owner) (context.Context, error) {
	entered, err := e.db.ForTenant(ctx, of.Tenant)
	if err != nil {
		return nil, err
	}
	tenant, err := tenancy.TenantFrom(entered)
	if err == nil && !tenant.Is(of.TenantID) {
		err = tenancy.ErrUnknownTenant
	}
	return entered, err
}

// storable is an error whose text PostgreSQL can store: where River could not
// write it down, the job would count as running for ever.
type storable struct{ error }

func (e storable) Error() string { return tenancy.StorableError(e.error) }

func (e storable) Unwrap() error { return e.error }
