package simulator

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"example.com/subproduct/handlers/platform"
)

// send sends one event that says n, and wants no error.
func (d *harness) send(t *testing.T, n string) Delivery {
	t.Helper()
	got, err := d.Send(t.Context(), "test.event", []byte(`{"eventType":"test.event","eventId":"`+n+`"}`))
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// order is the events that the product saw, by eventId.
func (d *harness) order(t *testing.T) string {
	t.Helper()
	var ids []string
	for _, h := range d.product.seen() {
		var e struct {
			EventID string `json:"eventId"`
		}
		if err := json.Unmarshal([]byte(h.body), &e); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, e.EventID)
	}
	return strings.Join(ids, " ")
}

func TestSimulator_DuplicatesAreSentAtTheSameTime(t *testing.T) {
	t.Parallel()
	d := newHarness(t, nil)
	d.SetFaults(Faults{DeliveryDuplicates: 2})
	all := make(chan struct{})
	d.product.answer = func(n int, _ hook) int { // nobody is answered before all are there
		if n == 3 {
			close(all)
		}
		<-all
		return 200
	}
	d.send(t, "a")
	if got := d.order(t); got != "a a a" {
		t.Errorf("the product saw %q, want the event three times", got)
	}
	if log := d.Deliveries(); len(log) != 3 || !strings.HasPrefix(log[0].Note, "duplicate of ") {
		t.Errorf("log = %+v, want three deliveries, two of them as duplicates", log)
	}
}

func TestSimulator_BurstIsOfDifferentEvents(t *testing.T) {
	t.Parallel()
	d := newHarness(t, nil)
	d.SetFaults(Faults{DeliveryBurst: 5})
	d.send(t, "a")
	seen := map[string]bool{}
	for _, id := range strings.Fields(d.order(t)) {
		seen[id] = true
	}
	if len(seen) != 6 || !seen["a"] {
		t.Errorf("the product saw the events %v, want a and five others", seen)
	}
}

func TestSimulator_ReorderSwapsTwoEvents(t *testing.T) {
	t.Parallel()
	d := newHarness(t, nil)
	d.SetFaults(Faults{DeliveryReorder: true})
	if first := d.send(t, "a"); first.Status != DeliveryPending || len(first.Attempts) != 0 {
		t.Errorf("the first delivery = %+v, want it held", first)
	}
	d.send(t, "b")
	if got := d.order(t); got != "b a" {
		t.Errorf("order %q, want b before a", got)
	}
	held := d.send(t, "c")
	d.SetFaults(Faults{})
	if got := d.await(t, held.ID); got.Status != DeliveryDelivered {
		t.Errorf("after the fault was turned off the held delivery is %+v", got)
	}
}

func TestSimulator_DelayedEventsComeLater(t *testing.T) {
	t.Parallel()
	d := newHarness(t, nil)
	const delay = 100 * time.Millisecond
	d.SetFaults(Faults{DeliveryDelay: Delay(delay)})
	before := time.Now()
	got := d.send(t, "a")
	if got.Status != DeliveryPending {
		t.Errorf("status %s, want pending at once", got.Status)
	}
	got = d.await(t, got.ID)
	if late := got.Attempts[0].At.Sub(before); got.Status != DeliveryDelivered || late < delay {
		t.Errorf("%s, %s late; want it delivered, %s late", got.Status, late, delay)
	}
}

func TestSimulator_FaultsOfAttempts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		faults Faults
		seen   int    // requests that reach the product
		fault  string // as the log has it
	}{
		"drop":                 {Faults{DeliveryDrop: true}, 0, "dropped"},
		"cut body":             {Faults{DeliveryCutBody: true}, 4, "cut after"},
		"wrong signature":      {Faults{DeliverySignature: SignatureWrong}, 4, "wrong signature"},
		"no signature":         {Faults{DeliverySignature: SignatureMissing}, 4, "no signature"},
		"drop the first":       {Faults{DeliveryDrop: true, DeliveryAttempts: 1}, 1, "dropped"},
		"first signature":      {Faults{DeliverySignature: SignatureWrong, DeliveryAttempts: 1}, 2, "wrong signature"},
		"cut and wrong, twice": {Faults{DeliverySignature: SignatureWrong, DeliveryCutBody: true, DeliveryAttempts: 2}, 3, "wrong signature, cut after"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newHarness(t, nil)
			d.SetFaults(c.faults)
			last := d.await(t, d.send(t, "a").ID)
			d.product.await(t, c.seen)
			want := DeliveryFailed
			if c.faults.DeliveryAttempts > 0 {
				want = DeliveryDelivered
			}
			if last.Status != want || !strings.Contains(last.Attempts[0].Fault, c.fault) {
				t.Errorf("%s with %+v, want %s and the fault %q", last.Status, last.Attempts, want, c.fault)
			}
			for i, h := range d.product.seen()[:c.seen-min(c.seen, 1)] {
				if platform.Verify(testSecret, []byte(h.body), h.signature) {
					t.Errorf("request %d, %+v, was not spoilt", i, h)
				}
			}
		})
	}
}

// await waits until the product has seen n webhooks: a cut one arrives by
// itself, after the platform has given up.
func (v *receiver) await(t *testing.T, n int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for len(v.seen()) < n {
		select {
		case <-ctx.Done():
			t.Fatalf("the product saw %d webhooks, want %d", len(v.seen()), n)
		case <-v.more:
		}
	}
	if len(v.seen()) != n {
		t.Fatalf("the product saw %d webhooks, want %d", len(v.seen()), n)
	}
}
