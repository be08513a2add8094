package handlertest

import (
	"log/slog"
	"testing"

	"example.com/subproduct/tenancy"
	"example.com/subproduct/tenancy/jobs"
)

// RunJobs runs the background jobs that are due, one after the other, and those
// that they insert, until none is due. The schedules of these kinds come due
// first: their time is not waited for. A job that fails is in the log, and fails
// no test.
func (s *Site) RunJobs(t testing.TB, schedules ...string) {
	t.Helper()
	if s.product.Jobs == nil {
		t.Fatal("the product declares no jobs")
	}
	db, err := tenancy.Open(t.Context(), tenancy.Options{
		URL: s.Database, Tenant: s.product.TenantSchema, Shared: s.product.SharedSchema, OnProvision: s.product.OnProvision,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	declared := s.product.Jobs(db)
	for _, kind := range schedules {
		if _, err := jobs.RunNow(t.Context(), db, declared, kind, tenancy.Slug{}); err != nil {
			t.Fatal(err)
		}
	}
	engine, err := jobs.New(db, declared, jobs.Options{Logger: slog.New(slog.NewJSONHandler(t.Output(), nil))})
	if err == nil {
		err = engine.RunDue(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
}
