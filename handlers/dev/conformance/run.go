package conformance

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// limitOfRun bounds a whole run: a target that answers nothing is not worth more.
const limitOfRun = time.Minute

// Run is the command `conformance --target URL --platform-addr ADDR`. It walks
// all rules and prints the table, or JSON. It returns ErrUsage for a wrong call
// or missing settings (each named), ErrBroken when a rule is broken, and other
// errors when there is nothing to judge: the address is taken, the target does
// not answer.
func Run(ctx context.Context, args []string, env func(string) (string, bool), stdout io.Writer) error {
	s, err := parse(args, env, stdout)
	if errors.Is(err, flag.ErrHelp) {
		return nil
	}
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", s.platformAddr)
	if err != nil {
		return fmt.Errorf("the platform cannot be played on %s: %w", s.platformAddr, err)
	}
	return run(ctx, s, l, stdout)
}

// run walks the rules with the platform on l, which it closes.
func run(ctx context.Context, s settings, l net.Listener, stdout io.Writer) error {
	w, err := newWalk(s, l)
	if err != nil {
		l.Close()
		return err
	}
	server := &http.Server{Handler: w.front, ReadHeaderTimeout: 5 * time.Second}
	go func() { _ = server.Serve(l) }() // ends with Close
	defer func() { _ = server.Close() }()
	if err := w.reach(ctx); err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, limitOfRun)
	defer cancel()
	results := w.all(limited)
	w.cleanUp(ctx)
	if err := ctx.Err(); err != nil { // interrupted: half a table would mislead
		return err
	}
	if err := report(stdout, results, s.asJSON); err != nil {
		return err
	}
	return verdict(results, limited.Err() != nil)
}

// verdict is the run in one error, or none.
func verdict(results []Result, late bool) error {
	broken := 0
	for _, r := range results {
		if r.Verdict == Fail {
			broken++
		}
	}
	switch {
	case broken > 0:
		return fmt.Errorf("%w: %d of %d rules", ErrBroken, broken, len(results))
	case late:
		return fmt.Errorf("%w: not all rules were seen to hold within %s", ErrBroken, limitOfRun)
	}
	return nil
}
