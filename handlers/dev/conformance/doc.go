// Package conformance holds a running sub-product, written by anybody in any
// language, against the platform's contract, rule by rule and over HTTP alone.
// It plays the platform itself, by the simulator, and prints what it saw.
//
// What cannot be seen from outside (where a tenant's rows are kept, whether a
// comparison takes constant time) is not judged; README.md names it.
package conformance

import "errors"

// Errors of Run that its caller tells apart.
var (
	// ErrUsage is wrapped by the error of a wrong call or a missing setting.
	ErrUsage = errors.New("the target cannot be checked")
	// ErrBroken says that the target breaks a rule, or was not seen to keep it
	// in the time of a run.
	ErrBroken = errors.New("the contract is broken")
)
