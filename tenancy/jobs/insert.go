package jobs

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"example.com/subproduct/tenancy"
)

// Option says how a job is inserted.
type Option func(*insertion)

type insertion struct {
	at   *time.Time
	once bool
}

// At has the job run at t or soon after; a t in the past means now.
func At(t time.Time) Option { return func(i *insertion) { i.at = &t } }

// In is At, in d from now.
func In(d time.Duration) Option { return At(time.Now().Add(d)) }

// Once inserts nothing, without an error, while the tenant has a job of the same
// kind with the same arguments that is pending or running.
func Once() Option { return func(i *insertion) { i.once = true } }

// Insert adds a job of ctx's tenant to the transaction tx, of InTx or of an
// event's handler: the job exists if and only if tx commits. It returns
// tenancy.ErrNoTenant or tenancy.ErrTenantCancelled, and an error for args that
// are no JSON or that PostgreSQL cannot store.
func Insert(ctx context.Context, tx pgx.Tx, args Args, options ...Option) error {
	tenant, err := tenancy.TenantFrom(ctx)
	if err != nil {
		return fmt.Errorf("insert job %s: %w", args.Kind(), err)
	}
	return insert(ctx, tx, tenant, args, options)
}

// InsertShared is Insert for a kind that is declared with Shared. It needs no
// tenant, and tx may be of InShared too.
func InsertShared(ctx context.Context, tx pgx.Tx, args Args, options ...Option) error {
	return insert(ctx, tx, tenancy.Tenant{}, args, options)
}

func insert(ctx context.Context, tx pgx.Tx, tenant tenancy.Tenant, args Args, options []Option) error {
	var i insertion
	for _, option := range options {
		option(&i)
	}
	stored, err := json.Marshal(args)
	if err == nil {
		_, err = tx.Exec(ctx, insertSQL+`
			FROM (SELECT $1::text AS kind, $2::jsonb AS args, $3::text AS tenant, coalesce($4::timestamptz, now()) AS at, $5::boolean AS once,
				coalesce(nullif($6::bigint, 0), (SELECT id FROM public.tenants WHERE slug = $3)) AS tenant_id) j`+
			unlessThere, args.Kind(), string(stored), tenant.Slug.String(), i.at, i.once, tenant.ID)
	}
	if err != nil {
		return fmt.Errorf("insert job %s: %w", args.Kind(), err)
	}
	return nil
}

// maxAttempts is after how many attempts a job is failed.
const maxAttempts = "15"

// insertSQL inserts jobs from rows j (kind, args, tenant, at, once, tenant_id): the
// id tells a tenant from the next that its slug is given to. River's own
// insertion would lock a row that is there already until the transaction ends.
// What is due within the interval of River's scheduler is made available at
// once: it is run when it is due.
const insertSQL = `
	INSERT INTO public.river_job (kind, args, max_attempts, metadata, scheduled_at, priority, state, unique_key, unique_states)
	SELECT j.kind, j.args, ` + maxAttempts + `, 
		CASE WHEN j.tenant = '' THEN '{}' ELSE jsonb_build_object('tenant', j.tenant, 'tenant_id', j.tenant_id) END, j.at, ` + prioritySQL + `,
		CASE WHEN j.at > now() + interval '5 seconds' THEN 'scheduled' ELSE 'available' END::public.river_job_state,
		CASE WHEN j.once THEN sha256(convert_to(concat_ws(' ', j.kind, j.tenant, j.tenant_id, j.args::text), 'UTF8')) END,
		CASE WHEN j.once THEN B'11110001' END`

// prioritySQL has a tenant's few jobs go before another tenant's many: the more
// jobs of its tenant are due within the hour before it, the later its turn.
const prioritySQL = `
		(SELECT CASE WHEN count(*) < 10 THEN 1 WHEN count(*) < 100 THEN 2 ELSE 3 END FROM (
			SELECT FROM public.river_job before
			WHERE before.metadata->>'tenant' = j.tenant AND before.finalized_at IS NULL
				AND before.scheduled_at > j.at - interval '1 hour' AND before.scheduled_at <= j.at LIMIT 100) counted)`

// unlessThere goes with unique_states above: scheduled, running, retryable,
// pending and available, as river_job_state_in_bitmask reads them.
const unlessThere = `
	ON CONFLICT (unique_key) WHERE unique_key IS NOT NULL AND unique_states IS NOT NULL
		AND public.river_job_state_in_bitmask(unique_states, state) DO NOTHING`
