package server

import (
	"log/slog"
	"math"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

// memoryShare is how much of its memory the process may use before the garbage
// collector works harder; the rest is for what it does not count.
const memoryShare = 0.9

// limitMemory sets GOMEMLIMIT by the memory that total says there is, where it
// is not set: without it a container is killed while it still holds garbage.
// Where there is no limit nothing changes.
func limitMemory(log *slog.Logger, total memlimit.Provider) {
	limit, err := memlimit.Set(memlimit.WithProvider(total), memlimit.WithRatio(memoryShare))
	if err == nil && limit != math.MaxInt64 {
		log.Info("memory limit", "bytes", limit)
	}
}
