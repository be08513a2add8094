package tenancy

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// faultClasses are the classes of SQLSTATE that say that the server, or a server
// behind it (a pooler, a worker of Citus), could not do what it was asked to:
// connection exception, insufficient resources, operator intervention, system
// error.
var faultClasses = []string{"08", "53", "57", "58"}

// IsUnavailable reports whether err is the database's fault and not that of the
// one who has asked it: no connection could be had, it was lost, or the server
// was ending, out of resources, read-only or over its time. The same request
// may succeed in a moment.
func IsUnavailable(err error) bool {
	var unconnected *pgconn.ConnectError
	var lost *lostError
	if errors.As(err, &unconnected) || errors.As(err, &lost) || errors.Is(err, pgconn.ErrConnClosed) {
		return true
	}
	return errors.Is(err, ErrReadOnly) || isFault(sqlState(err)) && !isFailedCopy(err)
}

// IsUnreachable reports whether err came from a database that is down, starting,
// full or busy, so that trying again may help. One that answered and refused is
// not unreachable.
func IsUnreachable(err error) bool {
	state := sqlState(err)
	return IsLockTimeout(err) || IsUnavailable(err) && (state == "" || isFault(state))
}

func isFault(state string) bool {
	return state == codeReadOnly || len(state) == 5 && slices.Contains(faultClasses, state[:2])
}

// lostError marks what reading from or writing to a connection to the database
// has failed with. It is marked there, for later it could not be told from the
// failure of a connection of a handler's own.
type lostError struct{ error }

func (e *lostError) Unwrap() error { return e.error }

// resetPause is how long until all connections are given up again.
const resetPause = time.Second

// failover closes the connections to a server that has become read-only, as a
// primary does that was demoted. It would answer queries on them for as long as
// they live.
type failover struct {
	mu    sync.Mutex
	pools []*pgxpool.Pool
	reset time.Time
}

func (f *failover) watch(pool *pgxpool.Pool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pools = append(f.pools, pool)
}

// keep is told each error of a server, and says whether the connection is kept.
func (f *failover) keep(_ *pgconn.PgConn, e *pgconn.PgError) bool {
	if e.Code != codeReadOnly {
		return !strings.EqualFold(e.Severity, "FATAL") // as pgx does
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if time.Since(f.reset) > resetPause {
		f.reset = time.Now()
		for _, pool := range f.pools {
			pool.Reset() // those that are in use are closed when they are given back
		}
	}
	return false
}
