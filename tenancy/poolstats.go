package tenancy

import "time"

// PoolStats is how a pool of connections is doing. The last two count since the
// pool was made.
type PoolStats struct {
	Acquired, Idle, Constructing, Max int

	Acquires    int64         // those that got a connection
	AcquireTime time.Duration // what these took, together
}

// Pool returns how the connections are doing. It asks nobody.
func (s *System) Pool() PoolStats {
	stat := s.pool.Stat()
	return PoolStats{
		Acquired: int(stat.AcquiredConns()), Idle: int(stat.IdleConns()), Constructing: int(stat.ConstructingConns()), Max: int(stat.MaxConns()),
		Acquires: stat.AcquireCount(), AcquireTime: stat.AcquireDuration(),
	}
}
