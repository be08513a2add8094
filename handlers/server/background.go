package server

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"
)

// backgroundPause is how long until Product.Background runs again after it has
// failed.
const backgroundPause = time.Second

// background runs what the product does beside its requests until that ends
// without an error, or ctx does.
func (a *app) background(ctx context.Context) {
	for a.product.Background != nil && ctx.Err() == nil {
		err := a.tryBackground(ctx)
		if err == nil || ctx.Err() != nil {
			return
		}
		a.log.ErrorContext(ctx, "the product's background work failed: it runs again", "error", err, "pause", backgroundPause)
		select {
		case <-ctx.Done():
		case <-time.After(backgroundPause):
		}
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
