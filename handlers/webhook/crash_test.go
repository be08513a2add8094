package webhook_test

import (
	"context"
	"net/http"
	"testing"
	"time"
)

func TestCrash_KilledAfterTheEventIsStoredAndBeforeItIsApplied(t *testing.T) {
	t.Parallel()
	b := newBase(t)
	first := launch(t, b.url, folder(t, plain))
	lock := b.connect()
	defer lock.Close(context.Background())
	// The tenant's lock, in another's hands: the event can be stored, and no more.
	if _, err := lock.Exec(t.Context(), `SELECT pg_advisory_lock($1::int, hashtext('acme'))`, 0x73756270); err != nil {
		t.Fatal(err)
	}
	body := event("subscription.created", "acme", 1)
	heard := make(chan answer, 1)
	go func() { heard <- deliverTo(first.url, body) }()
	b.awaitStatus(body, "pending")
	first.kill()
	if a := <-heard; a.code != 0 {
		t.Errorf("it was answered: %d", a.code)
	}
	_ = lock.Close(context.Background())
	launch(t, b.url, folder(t, plain))
	b.awaitStatus(body, "done")
	b.wantEffects(body, 1)
}

func TestCrash_KilledInTheMiddleOfProvisioning(t *testing.T) {
	t.Parallel()
	b := newBase(t)
	first := launch(t, b.url, folder(t, plain+`; SELECT pg_sleep(2)`))
	body := event("subscription.created", "acme", 1)
	go deliverTo(first.url, body)
	await(t, "the script runs", b.asleep)
	first.kill()
	second := launch(t, b.url, folder(t, plain)) // another connection keeps the lock until its sleep is over
	if got := b.ask(`SELECT to_regnamespace('tenant_acme')`); got != "none" {
		t.Errorf("a half-made tenant is there: %s", got)
	}
	if a := deliverTo(second.url, body); !a.acknowledged() { // the platform's retry
		t.Errorf("the retry: %d %v", a.code, a.err)
	}
	b.awaitStatus(body, "done")
	b.wantEffects(body, 1)
	if got := b.ask(`SELECT status FROM public.tenants WHERE slug = 'acme'`); got != "active" {
		t.Errorf("the tenant is %s", got)
	}
}

func TestCrash_KilledAfterTheCommitAndBeforeTheAnswer(t *testing.T) {
	t.Parallel()
	b := newBase(t)
	first := launch(t, b.url, folder(t, plain), "REPLICA_FREEZES_AT=event applied")
	body := event("subscription.created", "acme", 1)
	heard := make(chan answer, 1)
	go func() { heard <- deliverTo(first.url, body) }()
	b.awaitStatus(body, "done")
	first.kill()
	if a := <-heard; a.code != 0 {
		t.Errorf("it was answered: %d", a.code)
	}
	second := launch(t, b.url, folder(t, plain))
	expect(t, second, body, http.StatusOK)
	b.wantEffects(body, 1)
}

func TestCrash_ASlowEventSurvivesARestart(t *testing.T) {
	t.Parallel()
	b := newBase(t)
	slow := folder(t, plain+`; SELECT pg_sleep(6)`)
	first := launch(t, b.url, slow)
	body := event("subscription.created", "acme", 1)
	expect(t, first, body, http.StatusAccepted)
	first.kill()
	launch(t, b.url, slow)
	b.awaitStatus(body, "done")
	b.wantEffects(body, 1)
}

func TestCrash_ThePlatformsRetryWhileTheFirstAttemptRuns(t *testing.T) {
	t.Parallel()
	b := newBase(t)
	slow := folder(t, plain+`; SELECT pg_sleep(2)`)
	first, second := launch(t, b.url, slow), launch(t, b.url, slow)
	body := event("subscription.created", "acme", 1)
	heard := make(chan answer, 1)
	go func() { heard <- deliverTo(first.url, body) }()
	await(t, "the script runs", b.asleep)
	expect(t, second, body, http.StatusOK)
	if a := <-heard; a.code != http.StatusOK {
		t.Errorf("the first delivery: %d %v", a.code, a.err)
	}
	b.wantEffects(body, 1)
}

func TestCrash_AHandlerThatPanics(t *testing.T) {
	t.Parallel()
	b := newBase(t)
	r := launch(t, b.url, folder(t, plain))
	b.exec(`CREATE TABLE public.fuse ()`)
	expect(t, r, event("subscription.created", "acme", 1), http.StatusOK)
	body := event("panic", "acme", 2)
	expect(t, r, body, http.StatusInternalServerError)
	expect(t, r, event("subscription.created", "globex", 3), http.StatusOK)
	b.exec(`DROP TABLE public.fuse`)
	b.awaitStatus(body, "done")
	b.wantEffects(body, 1)
}

// An event that brings the process down is tried less and less often, and is
// failed in the end; the others are served.
func TestCrash_AnEventThatEndsTheProcessIsGivenUp(t *testing.T) {
	t.Parallel()
	b := newBase(t)
	b.exec(`CREATE TABLE public.fuse ()`)
	r := launch(t, b.url, folder(t, plain), "REPLICA_ATTEMPTS=6")
	expect(t, r, event("subscription.created", "acme", 1), http.StatusOK)
	body := event("poison", "acme", 2)
	if a := deliverTo(r.url, body); a.code != 0 {
		t.Fatalf("it was answered: %d", a.code)
	}
	<-r.ended
	behind, other := event("effect", "acme", 3), event("subscription.created", "globex", 4)
	crashes := 1
	for b.status(body) == "pending" && crashes < 12 {
		r = begin(t, b.url, folder(t, plain), "REPLICA_ATTEMPTS=6")
		for _, body := range []string{behind, other} {
			for !deliverTo(r.url, body).acknowledged() && !r.gone() {
			}
		}
		if r.endsUnless(func() bool { return b.status(body) != "pending" }) {
			crashes++
		}
	}
	if got := b.status(body); got != "failed" || crashes != 6 { // as many as attempts are allowed
		t.Errorf("after %d crashes it is %s, want failed", crashes, got)
	}
	if got := b.ask(`
		SELECT count(*) FROM public.webhook_attempts a JOIN public.webhook_events e ON e.id = a.event_id
		WHERE e.event_type = 'poison' AND a.error LIKE '%in the middle%'`); got != "6" {
		t.Errorf("%s attempts are on record, want 6", got)
	}
	b.awaitStatus(behind, "done")
	b.awaitStatus(other, "done")
	b.wantEffects(body, 0)
	b.wantEffects(behind, 1)
	b.wantEffects(other, 1)
}

func (r *replica) gone() bool {
	select {
	case <-r.ended:
		return true
	default:
		return false
	}
}

// endsUnless waits until the process has ended by itself, which gives true, or
// the condition holds.
func (r *replica) endsUnless(condition func() bool) bool {
	for !condition() {
		select {
		case <-r.ended:
			return true
		case <-time.After(20 * time.Millisecond):
		}
	}
	return false
}
