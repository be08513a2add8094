// Package panics keeps a panic of somebody else's code, in a goroutine of ours,
// from ending the process, and runtime.Goexit from ending the goroutine.
package panics

import (
	"errors"
	"fmt"
	"runtime/debug"
)

// ErrGoexit is the error of a function that has called runtime.Goexit.
var ErrGoexit = errors.New("runtime.Goexit was called: testing.T.FailNow does so, for example")

// AsError runs fn, in a goroutine of its own, and returns its error; a panic is an
// error with its stack, and runtime.Goexit is ErrGoexit.
func AsError(fn func() error) (err error) {
	done := make(chan struct{})
	err = ErrGoexit // unless fn returns or panics
	go func() {
		defer close(done)
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
			}
		}()
		err = fn()
	}()
	<-done
	return err
}
