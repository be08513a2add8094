package server

import (
	"context"
	"time"
)

// drain has the load balancers told to send nothing more, and says for how long
// requests are still served: what they have noticed by then is up to them.
func (a *app) drain(ctx context.Context) (delay time.Duration) {
	if wantsDrain(ctx) && a.health.IsReady() {
		delay = a.config.DrainDelay
	}
	a.health.Drain()
	a.log.InfoContext(ctx, "draining", "delay", delay.String(), "shutdown_timeout", a.config.ShutdownTimeout.String())
	return delay
}

// outlast returns a context that ends as long after ctx as grace, called then,
// says.
func outlast(ctx context.Context, grace func() time.Duration) (context.Context, context.CancelFunc) {
	longer, end := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(grace(), end) })
	return longer, func() { stop(); end() }
}
