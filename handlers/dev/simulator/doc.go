// Package simulator is the other side of the contract: a subscription platform
// to develop and test a sub-product against. It signs users in and issues
// one-time codes, answers user-info, sends signed events with the contract's
// limits and retries, probes health, and breaks each of these on request.
//
// What the contract leaves open ("not shown") is chosen here and documented as
// the simulator's own in README.md and on the console's /docs page. A product
// must not depend on those choices.
package simulator
