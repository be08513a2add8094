package server

import (
	"log/slog"
	"runtime/debug"
	"testing"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

// Not parallel: the limit is the process's.
func TestMemory_NineTenthsOfTheCgroupsAreTheLimit(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	t.Cleanup(func() { debug.SetMemoryLimit(before) })
	log := slog.New(slog.DiscardHandler)
	limitMemory(log, memlimit.Limit(10<<30))
	if got := debug.SetMemoryLimit(-1); got != 9<<30 {
		t.Errorf("the limit is %d", got)
	}
	t.Setenv("GOMEMLIMIT", "5GiB")
	limitMemory(log, memlimit.Limit(20<<30))
	if got := debug.SetMemoryLimit(-1); got != 9<<30 {
		t.Errorf("GOMEMLIMIT is set, and the limit %d", got)
	}
}
