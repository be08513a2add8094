package handlers

import (
	"context"

	"example.com/subproduct/tenancy"
	"example.com/subproduct/tenancy/jobs"
)

// This file has what the product does beside its requests. server/README.md
// shows an example of each.

// declareJobs has the background jobs: the handler of each kind, and when those
// come that nobody inserts.
//
//	jobs.Handle(sendReport), jobs.EveryTenant(24*time.Hour, report{}),
func declareJobs(*tenancy.DB) []jobs.Declared { return nil }

// background runs in every replica: it begins when the shared schema is there
// and ends with ctx. After an error or a panic it runs again. It is for what is
// no job, a connection that is listened to for example.
func background(context.Context, *tenancy.DB) error { return nil }
