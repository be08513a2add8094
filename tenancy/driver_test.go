package tenancy_test

import (
	"runtime"
	"strings"
	"testing"

	"example.com/subproduct/tenancy"
)

// golang-migrate reads ahead; a failed run must not leave that goroutine, for
// in a server a tenant may fail again and again.
func TestMigrations_ThatFailLeaveNoGoroutineBehind(t *testing.T) {
	db := open(t, tenancy.Options{Tenant: files("000001_bad.up.sql", "SELECT nonsense",
		"000002_a.up.sql", "SELECT 1", "000003_b.up.sql", "SELECT 1", "000004_c.up.sql", "SELECT 1")})
	for range 20 {
		if err := db.Provision(t.Context(), slug(t, "acme")); err == nil {
			t.Fatal("provisioned")
		}
	}
	left := func() int {
		stacks := make([]byte, 1<<20)
		stacks = stacks[:runtime.Stack(stacks, true)]
		return strings.Count(string(stacks), "golang-migrate")
	}
	await(t, "golang-migrate's goroutines have ended", func() bool { return left() == 0 })
}
