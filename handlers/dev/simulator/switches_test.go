package simulator

import (
	"strings"
	"testing"
	"time"
)

func TestSimulator_FaultsTravelAsJSON(t *testing.T) {
	t.Parallel()
	d := newHarness(t, nil)
	status, text := call(t, "POST", d.url+"/_sim/faults", `{"userInfoDelay":"1.5s","deliveryBurst":3,"deliverySignature":"missing"}`)
	want := Faults{UserInfoDelay: Delay(1500 * time.Millisecond), DeliveryBurst: 3, DeliverySignature: SignatureMissing}
	if got := d.Faults(); status != 200 || got != want {
		t.Fatalf("%d %s; faults %+v, want %+v", status, text, got, want)
	}
	_, text = call(t, "GET", d.url+"/_sim/faults", "")
	if !strings.Contains(text, `"userInfoDelay": "1.5s"`) || !strings.Contains(text, `"deliveryBurst": 3`) {
		t.Errorf("read back as %s", text)
	}
	if status, again := call(t, "POST", d.url+"/_sim/faults", text); status != 200 || d.Faults() != want {
		t.Errorf("what was read cannot be written: %d %s", status, again)
	}
	if call(t, "POST", d.url+"/_sim/faults", `{}`); d.Faults() != (Faults{}) {
		t.Errorf("{} left %+v on", d.Faults())
	}
}

func TestSimulator_FaultsThatMeanNothingAreRefused(t *testing.T) {
	t.Parallel()
	d := newHarness(t, nil)
	for _, body := range []string{
		`{"userInfoDelay":"soon"}`, `{"userInfoDelay":6}`, `{"userInfoDelay":"-1s"}`, `{"userInfoStatus":99}`, `{"userInfoBody":"odd"}`,
		`{"deliveryDuplicates":-1}`, `{"deliveryBurst":100000}`, `{"deliverySignature":"odd"}`, `{"deliveryDropp":true}`, `[]`,
	} {
		if status, text := call(t, "POST", d.url+"/_sim/faults", body); status != 422 || !strings.Contains(text, `"invalid"`) {
			t.Errorf("%s: %d %s, want 422", body, status, text)
		}
	}
	if d.Faults() != (Faults{}) {
		t.Errorf("faults = %+v, want none", d.Faults())
	}
}

func TestSimulator_EverySwitchTurnsSomethingOnAndOff(t *testing.T) {
	t.Parallel()
	d := newHarness(t, nil)
	for _, s := range switches() {
		if status, text := call(t, "POST", d.url+"/_sim/faults/switch", `{"fault":"`+s.Key+`","on":true}`); status != 200 {
			t.Errorf("%s on: %d %s", s.Key, status, text)
		}
		if on := d.Faults(); on == (Faults{}) || on.check() != nil || len(on.On()) != 1 || on.On()[0] != s.Name {
			t.Errorf("%s on: %+v, called %q", s.Key, on, on.On())
		}
		if call(t, "POST", d.url+"/_sim/faults/switch", `{"fault":"`+s.Key+`","on":false}`); d.Faults() != (Faults{}) {
			t.Errorf("%s off leaves %+v", s.Key, d.Faults())
		}
	}
	if status, _ := call(t, "POST", d.url+"/_sim/faults/switch", `{"fault":"odd","on":true}`); status != 404 {
		t.Errorf("an unknown switch: %d, want 404", status)
	}
}
