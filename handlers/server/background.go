package server

import (
	"context"
	"time"

	"example.com/subproduct/tenancy/panics"
)

// The pause until Product.Background runs again after it has failed doubles from
// the first to the longest. After a run of more than the longest it is the first
// again.
const (
	firstPause   = time.Second
	longestPause = time.Minute
)

// background runs what the product does beside its requests until that ends
// without an error, or ctx does.
func (a *app) background(ctx context.Context) {
	pause := firstPause
	for a.product.Background != nil && ctx.Err() == nil {
		began := time.Now()
		// A panic in a goroutine of ours would take the server down.
		err := panics.AsError(func() error { return a.product.Background(ctx, a.db) })
		if err == nil || ctx.Err() != nil {
			return
		}
		if time.Since(began) > longestPause {
			pause = firstPause
		}
		a.log.ErrorContext(ctx, "the product's background work failed: it runs again", "error", err, "pause", pause.String())
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
		pause = min(2*pause, longestPause)
	}
}
