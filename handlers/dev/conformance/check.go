package conformance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// check is one rule that is being judged. As with testing.T, what fails stops
// the rule at once: a method that returns has succeeded.
type check struct {
	*walk
	ctx context.Context
}

// stopped is what a stopped check panics with; try recovers it.
type stopped struct{ err error }

// skipped is the error of a rule that cannot be judged.
type skipped struct{ reason string }

func (s skipped) Error() string { return s.reason }

// must stops the check unless err is nil.
func must(err error) {
	if err != nil {
		panic(stopped{err})
	}
}

// fail stops the check: the rule is broken, or not seen to hold.
func fail(format string, args ...any) { must(fmt.Errorf(format, args...)) }

// skip stops the check: the rule cannot be judged.
func skip(format string, args ...any) { must(skipped{fmt.Sprintf(format, args...)}) }

// try returns the error that stopped do, or nil.
func try(do func()) (err error) {
	defer func() {
		switch reason := recover().(type) {
		case nil:
		case stopped:
			err = reason.err
		default:
			panic(reason)
		}
	}()
	do()
	return nil
}

// during says what went on in the error that stops do.
func during(what string, do func()) {
	if err := try(do); err != nil {
		fail("%s: %w", what, err)
	}
}

// together runs do n times at once and stops the check with what failed.
func together(n int, do func(i int)) {
	said := make([]string, n)
	var running sync.WaitGroup
	for i := range n {
		running.Go(func() {
			if err := try(func() { do(i) }); err != nil {
				said[i] = err.Error()
			}
		})
	}
	running.Wait()
	failAll(said)
}

// failAll stops the check when anything was said, with at most three of the
// texts, equal ones once.
func failAll(said []string) {
	slices.Sort(said)
	said = slices.DeleteFunc(slices.Compact(said), func(text string) bool { return text == "" })
	if len(said) > 0 {
		must(errors.New(strings.Join(said[:min(3, len(said))], "; ")))
	}
}
