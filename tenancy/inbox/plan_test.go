package inbox_test

import (
	"log/slog"
	"strings"
	"testing"

	"example.com/subproduct/tenancy"
	"example.com/subproduct/tenancy/inbox"
	"example.com/subproduct/tenancy/localpg/pgtest"
)

func TestPlanEvents_OfAProductsLifecycleEventAreRefused(t *testing.T) {
	t.Parallel()
	db, err := tenancy.Open(t.Context(), tenancy.Options{URL: pgtest.URL(t), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	_, err = inbox.New(db, inbox.Handlers{"moved": {Lifecycle: true}}, inbox.Options{PlanEvents: []string{"other", "moved"}})
	if err == nil || !strings.Contains(err.Error(), `PLAN_EVENTS names "moved"`) {
		t.Errorf("%v", err)
	}
}
