package simulator

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"example.com/subproduct/handlers/platform"
)

func (d *harness) client() *platform.Client {
	return platform.NewClient(platform.Settings{
		PlatformURL: d.url, BaseURL: d.url, AppSlug: "notes", APIKey: testKey, TenantStatusField: "tenantStatus",
	})
}

func (d *harness) code(t *testing.T, user string) string {
	t.Helper()
	code, err := d.IssueCode(user)
	if err != nil {
		t.Fatal(err)
	}
	return code
}

func TestSimulator_CodeIsExchangedOnceForItsUser(t *testing.T) {
	t.Parallel()
	d := newHarness(t, nil)
	code := d.code(t, "ada")

	got, err := d.client().Exchange(t.Context(), code)
	want := platform.UserInfo{
		UserID: "ada", Email: "ada@acme.example", TenantSlug: "acme", PlanType: "pro",
		SubscriptionStatus: "Active", TenantStatus: "Active",
	}
	if err != nil || got != want {
		t.Fatalf("first exchange = %+v, %v; want %+v", got, err, want)
	}
	if _, err := d.client().Exchange(t.Context(), code); !errors.Is(err, platform.ErrCodeRefused) {
		t.Errorf("second exchange = %v, want it refused", err)
	}
	log := d.Exchanges()
	if len(log) != 2 || log[0].Code != code || log[1].Code != code || log[0].Status != 200 || log[1].Status != 400 {
		t.Errorf("exchanges = %+v, want the code twice: 200, then 400", log)
	}
}

func TestSimulator_UserInfoRefuses(t *testing.T) {
	t.Parallel()
	d := newHarness(t, nil)
	good := d.code(t, "ada")
	body := `{"code":"` + good + `"}`
	for _, c := range []struct {
		name, body string
		headers    []string
		status     int
	}{
		{"no key", body, nil, 401},
		{"another key", body, []string{"X-Api-Key", "guess"}, 401},
		{"no JSON type", body, []string{"X-Api-Key", testKey, "Content-Type", "text/plain"}, 415},
		{"no body", "", []string{"X-Api-Key", testKey}, 400},
		{"unknown code", `{"code":"nobody"}`, []string{"X-Api-Key", testKey}, 400},
		{"and then the good one, which none of these spent", body, []string{"X-Api-Key", testKey}, 200},
	} {
		if status, answer := call(t, "POST", d.url+"/api/v1/auth/sso/user-info", c.body, c.headers...); status != c.status {
			t.Errorf("%s: status %d, want %d (%s)", c.name, status, c.status, answer)
		}
	}
}

func TestSimulator_CodeExpires(t *testing.T) {
	t.Parallel()
	d := newHarness(t, nil)
	code := d.code(t, "ada")
	d.mu.Lock()
	d.codes[code].expires = time.Now().Add(-time.Second)
	d.mu.Unlock()
	if _, err := d.client().Exchange(t.Context(), code); !errors.Is(err, platform.ErrCodeRefused) {
		t.Errorf("exchange of an old code = %v, want it refused", err)
	}
}

func TestSimulator_CodeIsForSomebodyKnown(t *testing.T) {
	t.Parallel()
	if _, err := newHarness(t, nil).IssueCode("nobody"); !errors.Is(err, ErrUnknown) {
		t.Errorf("IssueCode = %v, want ErrUnknown", err)
	}
}

func TestSimulator_UserInfoMisbehavesOnRequest(t *testing.T) {
	t.Parallel()
	d := newHarness(t, nil)
	for _, c := range []struct {
		name   string
		faults Faults
		want   error
		status int
	}{
		{"status 500", Faults{UserInfoStatus: 500}, platform.ErrUnavailable, 500},
		{"status 403", Faults{UserInfoStatus: 403}, platform.ErrCodeRefused, 403},
		{"garbage", Faults{UserInfoBody: BodyGarbage}, platform.ErrBadAnswer, 200},
		{"numbers", Faults{UserInfoBody: BodyNumbers}, platform.ErrBadAnswer, 200},
		{"huge", Faults{UserInfoBody: BodyHuge}, platform.ErrBadAnswer, 200},
		{"cut", Faults{UserInfoBody: BodyCut}, platform.ErrUnavailable, 0},
	} {
		d.SetFaults(c.faults)
		code := d.code(t, "ada")
		_, err := d.client().Exchange(t.Context(), code)
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
		log := d.Exchanges()
		if last := log[len(log)-1]; last.Code != code || last.Status != c.status || last.Fault == "" {
			t.Errorf("%s: logged as %+v, want status %d and the fault", c.name, last, c.status)
		}
		d.SetFaults(Faults{})
		if _, err := d.client().Exchange(t.Context(), code); !errors.Is(err, platform.ErrCodeRefused) {
			t.Errorf("%s: the code survived the fault: %v", c.name, err)
		}
	}
}

func TestSimulator_UserInfoIsSlowOnRequest(t *testing.T) {
	t.Parallel()
	d := newHarness(t, nil)
	const delay = 150 * time.Millisecond
	d.SetFaults(Faults{UserInfoDelay: Delay(delay)})
	start := time.Now()
	if _, err := d.client().Exchange(t.Context(), d.code(t, "ada")); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(start); took < delay {
		t.Errorf("answered after %s, want at least %s", took, delay)
	}
}

func TestSimulator_DelayEndsWhenItIsTurnedOff(t *testing.T) {
	t.Parallel()
	d := newHarness(t, nil)
	d.SetFaults(Faults{UserInfoDelay: Delay(time.Hour)})
	code, answered := d.code(t, "ada"), make(chan error, 1)
	go func() {
		_, err := d.client().Exchange(t.Context(), code)
		answered <- err
	}()
	for changed := d.nextChange(); len(d.Exchanges()) == 0; changed = d.nextChange() {
		if len(d.Exchanges()) == 0 {
			<-changed
		}
	}
	d.SetFaults(Faults{})
	if err := <-answered; err != nil {
		t.Errorf("the waiting exchange = %v, want it answered", err)
	}
}

func TestSimulator_AnswerFollowsTheSubscription(t *testing.T) {
	t.Parallel()
	d := newHarness(t, nil)
	check := func(subscription, tenant string) {
		t.Helper()
		status, text := call(t, http.MethodPost, d.url+"/api/v1/auth/sso/user-info", `{"code":"`+d.code(t, "ada")+`"}`, "X-Api-Key", testKey)
		var got userInfo
		if err := json.Unmarshal([]byte(text), &got); err != nil || status != 200 {
			t.Fatalf("user-info: %d %s", status, text)
		}
		if got.SubscriptionStatus != subscription || got.TenantStatus != tenant {
			t.Errorf("statuses %s, %s; want %s, %s", got.SubscriptionStatus, got.TenantStatus, subscription, tenant)
		}
	}
	must := func(_ Delivery, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	check("Active", "Active")
	must(d.Pause(t.Context(), "acme"))
	check("Paused", "Paused")
	must(d.Resume(t.Context(), "acme"))
	check("Active", "Active")
	must(d.Cancel(t.Context(), "acme"))
	check("Cancelled", "Cancelled")
	must(d.Subscribe(t.Context(), "acme", "pro"))
	check("Active", "Active")

	if _, err := d.Resume(t.Context(), "acme"); !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), "acme") {
		t.Errorf("resuming an active subscription = %v, want ErrInvalid naming the tenant", err)
	}
}
