package simulator

import (
	"strings"
	"testing"
	"time"

	"example.com/subproduct/handlers/platform"
)

func TestSimulator_SubscribingSendsASignedEvent(t *testing.T) {
	t.Parallel()
	d := newHarness(t, nil)
	got, err := d.Subscribe(t.Context(), "globex", "basic")
	if err != nil {
		t.Fatal(err)
	}
	if got.Status != DeliveryDelivered || len(got.Attempts) != 1 || got.Attempts[0].Status != 200 || got.Attempts[0].ResponseBody != "ok" {
		t.Errorf("delivery = %+v, want it delivered at once with the answer", got)
	}
	hooks := d.product.seen()
	if len(hooks) != 1 {
		t.Fatalf("the product saw %d events, want 1", len(hooks))
	}
	if hooks[0].signature != platform.Sign(testSecret, []byte(hooks[0].body)) || hooks[0].signature != got.Signature || hooks[0].body != got.Body {
		t.Errorf("sent %+v, logged %+v: want the same, signed over the raw body", hooks[0], got)
	}
	envelope, err := platform.ParseEnvelope([]byte(got.Body), []string{"tenantSlug"})
	if err != nil || envelope.Type != platform.SubscriptionCreated || envelope.Tenant != "globex" {
		t.Errorf("event %s is read as %+v, %v", got.Body, envelope, err)
	}
	if _, err := d.client().Exchange(t.Context(), d.code(t, firstUser(t, d, "globex"))); err != nil {
		t.Errorf("the new tenant's user cannot sign in: %v", err)
	}
}

func firstUser(t *testing.T, d *harness, tenant string) string {
	t.Helper()
	for _, u := range d.Users() {
		if u.Tenant == tenant {
			return u.ID
		}
	}
	t.Fatalf("%s has no user", tenant)
	return ""
}

func TestSimulator_FailedDeliveryIsRetriedAtMostThreeTimes(t *testing.T) {
	t.Parallel()
	d := newHarness(t, nil)
	d.product.answer = func(int, hook) int { return 503 }
	first, err := d.Cancel(t.Context(), "acme")
	if err != nil {
		t.Fatal(err)
	}
	if first.Status != DeliveryPending && first.Status != DeliveryFailed || len(first.Attempts) == 0 {
		t.Errorf("after the first attempt: %+v", first)
	}
	last := d.await(t, first.ID)
	if last.Status != DeliveryFailed || len(last.Attempts) != 4 || len(d.product.seen()) != 4 {
		t.Errorf("%s after %d attempts (%d seen), want failed after 4", last.Status, len(last.Attempts), len(d.product.seen()))
	}
	for _, h := range d.product.seen() {
		if h != d.product.seen()[0] {
			t.Errorf("a retry sent %+v, the first attempt %+v", h, d.product.seen()[0])
		}
	}
}

func TestSimulator_RetryThatSucceedsEndsTheDelivery(t *testing.T) {
	t.Parallel()
	d := newHarness(t, nil)
	d.product.answer = func(n int, _ hook) int {
		if n < 3 {
			return 500
		}
		return 204
	}
	first, err := d.Send(t.Context(), "anything.happened", []byte(`{"eventType":"anything.happened","tenantSlug":"acme"}`))
	if err != nil {
		t.Fatal(err)
	}
	if last := d.await(t, first.ID); last.Status != DeliveryDelivered || len(last.Attempts) != 3 || last.Tenant != "acme" {
		t.Errorf("delivery = %+v, want it delivered with the third attempt", last)
	}
}

func TestSimulator_AnswerAfterTheLimitIsAFailure(t *testing.T) {
	t.Parallel()
	d := newHarness(t, func(o *Options) { o.RetryDelays = []time.Duration{} })
	d.limit = 50 * time.Millisecond
	late := make(chan struct{})
	t.Cleanup(func() { close(late) })
	d.product.answer = func(int, hook) int { <-late; return 200 }
	got, err := d.Send(t.Context(), "too.slow", nil)
	if err != nil {
		t.Fatal(err)
	}
	if got.Status != DeliveryFailed || got.Attempts[0].Status != 0 || !strings.Contains(got.Attempts[0].Error, "limit") {
		t.Errorf("delivery = %+v, want it failed for its time", got)
	}
}

func TestSimulator_RedirectIsNotFollowed(t *testing.T) {
	t.Parallel()
	d := newHarness(t, func(o *Options) { o.RetryDelays = []time.Duration{} })
	d.product.answer = func(int, hook) int { return 307 }
	got, err := d.Send(t.Context(), "moved", nil)
	if err != nil || got.Status != DeliveryFailed || got.Attempts[0].Status != 307 {
		t.Errorf("delivery = %+v, %v; want it failed with the 307", got, err)
	}
}

func TestSimulator_DeliveryIsSentAgain(t *testing.T) {
	t.Parallel()
	d := newHarness(t, nil)
	first, err := d.Send(t.Context(), "odd", []byte("\xff not even text"))
	if err != nil {
		t.Fatal(err)
	}
	again, err := d.Resend(t.Context(), first.ID)
	if err != nil || again.ID == first.ID || again.Status != DeliveryDelivered {
		t.Fatalf("again = %+v, %v", again, err)
	}
	if hooks := d.product.seen(); len(hooks) != 2 || hooks[0] != hooks[1] {
		t.Errorf("the product saw %+v, want the same twice", hooks)
	}
}

func TestSimulator_ContractAllowsThreeRetries(t *testing.T) {
	t.Parallel()
	if _, err := New(Options{RetryDelays: make([]time.Duration, 4)}); err == nil {
		t.Error("New took four retries")
	}
}

func TestSimulator_LogForgetsTheOldestFinishedDeliveries(t *testing.T) {
	t.Parallel()
	d := newHarness(t, nil)
	d.SetFaults(Faults{DeliveryDelay: Delay(time.Hour)})
	waiting, finished := d.send(t, "waiting"), ""
	d.SetFaults(Faults{})
	for range keptDeliveries {
		got := d.send(t, "x")
		if finished == "" {
			finished = got.ID
		}
	}
	if n := len(d.Deliveries()); n != keptDeliveries {
		t.Errorf("%d deliveries are kept, want %d", n, keptDeliveries)
	}
	if _, err := d.Delivery(waiting.ID); err != nil {
		t.Errorf("one that is still to be sent was forgotten: %v", err)
	}
	if _, err := d.Delivery(finished); err == nil {
		t.Error("the oldest finished one is still there")
	}
}
