package simulator

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestSimulator_RestartKeepsTheState(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "state.json")
	d := newHarness(t, func(o *Options) { o.StateFile = file })
	sent := d.send(t, "a")
	if _, err := d.Send(t.Context(), "odd", []byte("\xff\x00")); err != nil {
		t.Fatal(err)
	}
	d.Probe(t.Context())
	d.stop()

	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("state file: %v, %v; want mode 0600", info.Mode(), err)
	}
	again, err := New(Options{StateFile: file, Product: d.options.Product})
	if err != nil {
		t.Fatal(err)
	}
	got, err := again.Delivery(sent.ID)
	if err != nil || got.Body != sent.Body || len(got.Attempts) != 1 || got.Attempts[0].ResponseBody != "ok" {
		t.Errorf("delivery after the restart = %+v, %v; want %+v", got, err, sent)
	}
	if odd := again.Deliveries()[0]; odd.Body != "\xff\x00" {
		t.Errorf("the odd body came back as %q", odd.Body)
	}
	if len(again.Tenants()) != 1 || len(again.Users()) != 1 || len(again.Probes()) != 1 || again.Product() != d.Product() {
		t.Errorf("after the restart: %+v %+v %+v %+v", again.Tenants(), again.Users(), again.Probes(), again.Product())
	}
	again.AddTenant("acme", "Acme", "pro", User{ID: "ada", Email: "ada@acme.example"}, User{ID: "ben", Email: "ben@acme.example"})
	if len(again.Tenants()) != 1 || len(again.Users()) != 2 {
		t.Errorf("seeding again: %+v %+v, want one tenant and one more user", again.Tenants(), again.Users())
	}
}

func TestSimulator_WhatWasNotSentIsSentAfterARestart(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "state.json")
	d := newHarness(t, func(o *Options) {
		o.StateFile = file
		o.RetryDelays = []time.Duration{time.Hour}
	})
	d.product.answer = func(n int, _ hook) int { return map[bool]int{true: 500, false: 200}[n == 1] }
	sent := d.send(t, "a")
	d.stop()

	// The retry's time comes while nothing runs.
	d.state.Deliveries[0].NextAttempt = time.Now().Add(-time.Minute)
	if err := d.save(); err != nil {
		t.Fatal(err)
	}
	again := &harness{Platform: reopen(t, file, d.options.Product), product: d.product}
	again.run(t)
	if got := again.await(t, sent.ID); got.Status != DeliveryDelivered || len(got.Attempts) != 2 {
		t.Errorf("delivery = %+v, want the second attempt to have delivered it", got)
	}
}

func reopen(t *testing.T, file string, product Product) *Platform {
	t.Helper()
	p, err := New(Options{StateFile: file, Product: product, HealthInterval: -1})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestSimulator_EditsStayUntilTheOptionsChange(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "state.json")
	given := Product{Slug: "notes", HealthURL: "http://127.0.0.1:8080/healthz"}
	p := reopen(t, file, given)
	edited := given
	edited.Slug, edited.HealthURL = "edited", "http://127.0.0.1:1/edited"
	p.SetProduct(edited)
	if err := p.save(); err != nil {
		t.Fatal(err)
	}
	if got := reopen(t, file, given).Product(); got != edited {
		t.Errorf("started the same way: %+v, want the edits %+v", got, edited)
	}
	given.HealthURL = "http://127.0.0.1:8081/healthz"
	if got, want := reopen(t, file, given).Product(), (Product{Slug: "edited", HealthURL: given.HealthURL}); got != want {
		t.Errorf("started with another health address: %+v, want %+v", got, want)
	}
}

func TestSimulator_UnusableStateFileIsFoundAtTheStart(t *testing.T) {
	t.Parallel()
	broken := filepath.Join(t.TempDir(), "state.json")
	if err := os.WriteFile(broken, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{broken, filepath.Join(t.TempDir(), "nowhere", "state.json")} {
		if _, err := New(Options{StateFile: file}); err == nil {
			t.Errorf("New took %s", file)
		}
	}
}

func TestSimulator_ResetForgets(t *testing.T) {
	t.Parallel()
	d := newHarness(t, nil)
	d.send(t, "a")
	code := d.code(t, "ada")
	d.SetFaults(Faults{DeliveryDrop: true})
	if status, text := call(t, "POST", d.url+"/_sim/reset", ""); status != 200 {
		t.Fatalf("reset: %d %s", status, text)
	}
	if len(d.Tenants())+len(d.Users())+len(d.Deliveries())+len(d.Exchanges()) != 0 || d.Faults() != (Faults{}) {
		t.Error("something is left")
	}
	if _, err := d.client().Exchange(t.Context(), code); err == nil {
		t.Error("an old code is still good")
	}
	if d.Product().APIKey != testKey {
		t.Error("the registration is gone too")
	}
}

func TestSimulator_RunEndsWithItsContext(t *testing.T) {
	t.Parallel()
	d := newHarness(t, nil)
	hold := make(chan struct{})
	t.Cleanup(func() { close(hold) })
	d.product.answer = func(n int, _ hook) int {
		if n > 1 {
			<-hold // the retry is under way when Run ends
		}
		return 500
	}
	sent := d.send(t, "a")
	d.product.await(t, 2)
	d.stop()
	if got, err := d.Delivery(sent.ID); err != nil || got.Status != DeliveryPending || len(got.Attempts) != 1 || got.NextAttempt.IsZero() {
		t.Errorf("delivery = %+v, %v; want the unfinished attempt not counted and to be made again", got, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := d.Await(ctx, sent.ID); err == nil {
		t.Error("Await outlived its context")
	}
}
