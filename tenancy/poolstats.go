package tenancy

import (
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// PoolStats is how connections of one purpose are doing. The last two count since
// the start.
type PoolStats struct {
	Acquired, Idle, Constructing, Max int

	Acquires    int64         // those that got a connection
	AcquireTime time.Duration // what these took, together
}

// Pools returns how the connections are doing by what they are for: requests,
// tenants (what is no request) and sessions, where these do not share others. It
// asks nobody.
func (db *DB) Pools() map[string]PoolStats {
	requests := statsOf(db.lanes.Pools()...)
	requests.Acquires, requests.AcquireTime = db.lanes.Acquired()
	stats := map[string]PoolStats{"requests": requests, "tenants": statsOf(db.pool)}
	if db.sessions != db.pool {
		stats["sessions"] = statsOf(db.sessions)
	}
	return stats
}

// Pool returns how the connections are doing.
func (s *System) Pool() PoolStats { return statsOf(s.pool) }

func statsOf(pools ...*pgxpool.Pool) (sum PoolStats) {
	for _, pool := range pools {
		stat := pool.Stat()
		sum.Acquired += int(stat.AcquiredConns())
		sum.Idle += int(stat.IdleConns())
		sum.Constructing += int(stat.ConstructingConns())
		sum.Max += int(stat.MaxConns())
		sum.Acquires += stat.AcquireCount()
		sum.AcquireTime += stat.AcquireDuration()
	}
	return sum
}
