// Package conformance checks a running sub-product, in any language, against
// the platform's contract, rule by rule and over HTTP alone. It plays the
// platform itself, with the simulator, and prints what it saw.
//
// What cannot be seen from outside (where a tenant's rows are kept, whether a
// comparison takes constant time) is not judged; README.md names it.
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

// ErrBroken says that the target breaks a rule, or was not seen to keep it in
// the time of a run.
var ErrBroken = errors.New("the contract is broken")

// runLimit bounds a whole run: a target that answers nothing is not worth more.
const runLimit = time.Minute

// Run is the command `conformance --target URL --platform-addr ADDR`. It judges
// all rules and prints the table, or JSON. It returns flags.ErrUsage for a wrong
// call or missing settings (each named), ErrBroken when a rule is broken, and
// other errors when there is nothing to judge: the address is taken, the target
// does not answer.
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

// run judges the rules with the platform on l, which it closes.
func run(ctx context.Context, s settings, l net.Listener, stdout io.Writer) error {
	w, err := newWalk(s, l)
	if err != nil {
		l.Close()
		return err
	}
	server := &http.Server{Handler: w.handler, ReadHeaderTimeout: 5 * time.Second}
	go func() { _ = server.Serve(l) }() // ends with Close
	defer func() { _ = server.Close() }()
	if err := w.reach(ctx); err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, runLimit)
	defer cancel()
	results := w.judgeAll(limited)
	w.cleanUp(ctx)
	if err := ctx.Err(); err != nil { // interrupted: half a table would mislead
		return err
	}
	broken, err := report(stdout, results, s.asJSON)
	switch {
	case err != nil:
		return err
	case broken > 0:
		return fmt.Errorf("%w: %d of %d rules", ErrBroken, broken, len(results))
	case limited.Err() != nil:
		return fmt.Errorf("%w: not all rules were seen to hold within %s", ErrBroken, runLimit)
	}
	return nil
}
