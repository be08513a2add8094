package lanes

import (
	"slices"

	"github.com/jackc/pgx/v5/pgxpool"
)

// spareLane stands for the lane of a connection of the spare pool.
const spareLane = -1

func (l *Lanes) pool(n int) *pgxpool.Pool {
	if n == spareLane {
		return l.spare
	}
	return l.lanes[n].pool
}

// relieve grants the first who waits for a second connection one of the spare
// pool, where all the others are held by such as wait too; one at a time. It
// comes to that where these are the first who ever ask, so that none was kept,
// and where there is but one connection.
func (l *Lanes) relieve() {
	if !l.nests || l.spare == nil || l.nested > 0 || len(l.queue) < l.conns {
		return
	}
	first, waiting := -1, 0
	for i, w := range slices.Backward(l.queue) {
		if w.tenant.nested() {
			first = i
			waiting++
		}
	}
	if waiting < l.conns {
		return
	}
	w := l.queue[first]
	l.queue = slices.Delete(l.queue, first, first+1)
	l.count(spareLane, w.tenant, 1)
	w.granted <- spareLane
}
