package webhook_test

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A replica that is frozen in the middle of a handler loses its transaction:
// its tenant goes on at another replica, and each event has one effect, also
// after the thaw.
func TestFrozenReplica_ItsTenantGoesOnElsewhere(t *testing.T) {
	t.Parallel()
	b := newBase(t)
	first := launch(t, b.url, folder(t, plain))
	expect(t, first, event("subscription.created", "acme", 1), http.StatusOK)
	b.exec(`CREATE TABLE public.fuse ()`)
	stuck, behind := event("freeze", "acme", 2), event("effect", "acme", 3)
	go deliverTo(first.url, stuck)
	await(t, "the replica freezes in the handler", func() bool { return first.frozen() })
	b.exec(`DROP TABLE public.fuse`)
	began := time.Now()
	second := launch(t, b.url, folder(t, plain))
	go deliverTo(second.url, behind)
	b.awaitStatus(stuck, "done")
	b.awaitStatus(behind, "done")
	if took := time.Since(began); took > 15*time.Second {
		t.Errorf("its tenant stood still for %v", took)
	}
	if err := first.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	expect(t, first, event("effect", "acme", 4), http.StatusOK) // it serves again
	for _, body := range []string{stuck, behind, event("effect", "acme", 4)} {
		b.wantEffects(body, 1)
	}
}

// frozen reports whether the process is stopped.
func (r *replica) frozen() bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", r.cmd.Process.Pid))
	_, state, _ := strings.Cut(string(stat), ") ")
	return err == nil && strings.HasPrefix(state, "T")
}
