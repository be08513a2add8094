package jobs_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"example.com/subproduct/tenancy"
	"example.com/subproduct/tenancy/jobs"
)

// ran runs what is due, and returns whose jobs they were, in their order.
func (o *harness) ran(t testing.TB) (tenants []string) {
	t.Helper()
	o.runDue(t, jobs.Handle(func(ctx context.Context, _ note) error {
		tenant, err := tenancy.TenantFrom(ctx)
		tenants = append(tenants, tenant.Slug.String())
		return err
	}))
	return tenants
}

func (o *harness) insertMany(t testing.TB, ctx context.Context, n int, options ...jobs.Option) {
	t.Helper()
	must(t, o.db.InTx(ctx, func(tx pgx.Tx) error {
		for i := range n {
			if err := jobs.Insert(ctx, tx, note{fmt.Sprint(i)}, options...); err != nil {
				return err
			}
		}
		return nil
	}))
}

// Many jobs of one tenant are not before those of others that have few, whether
// they are due now or will be.
func TestInsert_ATenantsFewJobsGoBeforeAnothersMany(t *testing.T) {
	t.Parallel()
	for name, options := range map[string][]jobs.Option{"now": nil, "later": {jobs.At(time.Now().Add(time.Hour))}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newHarness(t)
			o.insertMany(t, o.tenant(t, "many"), 120, options...)
			o.insertMany(t, o.tenant(t, "some"), 30, options...)
			o.insertMany(t, o.tenant(t, "few"), 1, options...)
			o.soon(t)
			order := o.ran(t)
			if len(order) != 151 {
				t.Fatalf("%d jobs ran", len(order))
			}
			if at := slices.Index(order, "few"); at > 20 {
				t.Errorf("the one of a tenant with one came after %d others", at)
			}
			slices.Reverse(order)
			if at := len(order) - slices.Index(order, "some"); at > 131 {
				t.Errorf("the last of a tenant with 30 was number %d", at)
			}
		})
	}
}

// Jobs that are far apart are not many: each is in line with those of others.
func TestInsert_JobsThatAreSpreadAreNotMany(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	acme := o.tenant(t, "acme")
	for day := range 30 {
		o.insert(t, acme, note{fmt.Sprint(day)}, jobs.In(time.Duration(day)*24*time.Hour))
	}
	o.insert(t, o.tenant(t, "globex"), note{"last"})
	o.soon(t)
	if order := o.ran(t); slices.Index(order, "globex") != 30 {
		t.Errorf("ran in the order %v, want globex's last", order)
	}
}
