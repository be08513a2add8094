package inbox_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"

	"example.com/subproduct/tenancy/inbox"
	"example.com/subproduct/tenancy/localpg/pgtest"
)

// leaving is a harness whose poller has taken up the first of three events of acme
// and was told to stop while its handler waits for release.
func leaving(t *testing.T, release chan struct{}) (d *harness, backlog []int64) {
	t.Helper()
	started := make(chan struct{}, 1)
	wait := waitFor(release)
	d = newHarness(t, quick, inbox.Handlers{"wait": {Apply: func(ctx context.Context, tx pgx.Tx, e inbox.Event) error {
		started <- struct{}{}
		return wait(ctx, tx, e)
	}}})
	for _, slug := range []string{"acme", "globex"} {
		d.want(t, inbox.Applied, "subscription.created", slug, "")
	}
	backlog = d.leave(t, delivery("wait", "acme", ""), delivery("effect", "acme", "1"), delivery("effect", "acme", "2"))
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); d.inbox.Run(ctx) }()
	<-started
	stop()
	<-done
	return d, backlog
}

// untouched is a condition: nobody has claimed the event.
const untouched = `SELECT status = 'pending' AND claimed_by IS NULL AND attempts = 0 FROM public.webhook_events WHERE id = $1`

func TestLeave_WhatRunsFinishesAndTheBacklogIsLeft(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	d, backlog := leaving(t, release)
	close(release)
	d.awaitStatus(t, backlog[0], "done")
	d.inbox.Close(t.Context())
	for _, id := range backlog[1:] {
		if !pgtest.Query[bool](t, d.url, untouched, id) {
			t.Errorf("event %d is not left as it was: %s", id, d.status(t, id))
		}
	}
	joinHarness(t, d.url, quick, nil).run(t)
	d.awaitStatus(t, backlog[2], "done")
}

// A delivery is answered as ever, and what is before it in its tenant's order is
// applied for it.
func TestLeave_ADeliveryIsStillApplied(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	d, backlog := leaving(t, release)
	d.want(t, inbox.Applied, "effect", "globex", "3")
	close(release)
	d.awaitStatus(t, backlog[0], "done")
	d.want(t, inbox.Applied, "effect", "acme", "4")
	if n := d.effects(t, "acme"); n != 4 {
		t.Errorf("%d effects, want those of the backlog and its own", n)
	}
}
