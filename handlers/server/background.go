package server

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"
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
		err := a.tryBackground(ctx)
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

// tryBackground turns a panic into an error: in a goroutine of ours it would
// take the server down.
func (a *app) tryBackground(ctx context.Context) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return a.product.Background(ctx, a.db)
}
