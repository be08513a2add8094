package tenancy

import (
	"context"
	"slices"
)

// End gives back the connections of rows that the request has left open, for it
// panicked or forgot to close them, and returns how many there were: they would
// be lost for good. The connections are closed, for what is still on its way over
// them is not known.
func (u *Usage) End(ctx context.Context) int {
	u.mu.Lock()
	left := u.open
	u.open = nil
	u.mu.Unlock()
	for _, tx := range left {
		tx.spent, tx.begun = true, false
		tx.end(ctx, false)
	}
	return len(left)
}

func (u *Usage) opened(tx *tenantTx) {
	if u == nil {
		return // nobody would end it
	}
	tx.listed = u
	u.mu.Lock()
	defer u.mu.Unlock()
	u.open = append(u.open, tx)
}

func (u *Usage) closed(tx *tenantTx) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.open = slices.DeleteFunc(u.open, func(other *tenantTx) bool { return other == tx })
}
