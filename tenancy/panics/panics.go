// Package panics keeps a panic of somebody else's code, in a goroutine of ours,
// from ending the process.
package panics

import (
	"fmt"
	"runtime/debug"
)

// AsError runs fn and returns its error; a panic is an error with its stack.
func AsError(fn func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return fn()
}
