package server

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
)

// Signals returns a context that ends with the first SIGINT, SIGTERM or SIGHUP,
// for a command to end in good order; Serve drains first where it was no SIGINT.
// The second signal has its usual effect: the process ends at once. A SIGHUP
// that was ignored already, as under nohup, stays so.
func Signals(parent context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(parent)
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) {
		signal.Notify(caught, syscall.SIGHUP)
	}
	go func() {
		defer signal.Stop(caught)
		select {
		case s := <-caught:
			signal.Stop(caught) // first: whoever sees the end of ctx may send the second
			cancel(signalled{s})
		case <-ctx.Done():
		}
	}()
	return ctx, func() { cancel(nil) }
}

// signalled is the cause of a context that has ended with a signal.
type signalled struct{ os.Signal }

func (s signalled) Error() string { return s.String() }
func (s signalled) Unwrap() error { return context.Canceled }

// wantsDrain reports whether ctx has ended with a signal by which orchestrators
// stop a server. A person who presses Ctrl-C does not want to wait.
func wantsDrain(ctx context.Context) bool {
	var s signalled
	return errors.As(context.Cause(ctx), &s) && s.Signal != os.Interrupt
}
