package server_test

import (
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"example.com/subproduct/handlers/handlertest"
	"example.com/subproduct/tenancy/localpg/pgtest"
)

// ROLLING_TIME=30s is the long form: restarts for so long at least, behind
// balancers that lag 4 s, with the default's DRAIN_DELAY. The short one has each
// replica restarted once.
const rollingEnv = "ROLLING_TIME"

func rollingForm(t *testing.T) (length, lag time.Duration) {
	t.Helper()
	text := os.Getenv(rollingEnv)
	if text == "" {
		return 0, 400 * time.Millisecond
	}
	length, err := time.ParseDuration(text)
	if err != nil {
		t.Fatal(err)
	}
	return length, 4 * time.Second
}

// Three replicas are restarted in turn, under load, behind what notices late that
// one of them drains: no request fails, and no event is lost.
func TestRolling_NoRequestFailsWhereTheDelayOutlastsTheBalancersLag(t *testing.T) {
	t.Parallel()
	length, lag := rollingForm(t)
	for name, start := range map[string]balancing{"TCP": startBalancer, "HAProxy": startHAProxy} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if failures := roll(t, start, length, lag, lag+time.Second); len(failures) > 0 {
				t.Errorf("the first: %v", failures[:min(3, len(failures))])
			}
		})
	}
}

// Without the delay some fail, which shows that the test above would notice.
func TestRolling_RequestsFailWithoutTheDelay(t *testing.T) {
	t.Parallel()
	length, lag := rollingForm(t)
	if failures := roll(t, startBalancer, length, lag, 0); len(failures) == 0 {
		t.Error("none failed")
	}
}

// balancing starts what hands requests to the servers with these addresses, and
// takes so long to notice that one drains; it returns its own address.
type balancing = func(t *testing.T, addresses []string, lag time.Duration) string

// roll restarts three replicas in turn, and returns the requests that failed.
func roll(t *testing.T, start balancing, length, lag, delay time.Duration) (failures []string) {
	t.Helper()
	r := replicas{database: pgtest.URL(t), delay: delay}
	for i := range r.processes {
		r.start(t, i, "127.0.0.1:0")
	}
	l := newLoad(awaitServing(t, start(t, r.addresses[:], lag)))
	r.awaitInRotation(t)
	began, rounds := time.Now(), 0
	for rounds == 0 || time.Since(began) < length {
		for i := range r.processes {
			r.restart(t, i)
		}
		rounds++
	}
	answered, acknowledged, failures := l.end()
	t.Logf("%d restarts in %v: %d answered, %d failed", 3*rounds, time.Since(began).Round(time.Second/10), answered, len(failures))
	if answered < 100 {
		t.Errorf("only %d were answered", answered)
	}
	awaitDone(t, r.database, acknowledged)
	return failures
}

// awaitServing returns the URL of an address that hands requests on.
func awaitServing(t *testing.T, address string) string {
	t.Helper()
	handlertest.Await(t, "requests are handed on", func() bool { return status("http://"+address+"/readyz") == http.StatusOK })
	return "http://" + address
}

// replicas are three servers of one database, which keep their addresses.
type replicas struct {
	database  string
	delay     time.Duration
	processes [3]*process
	addresses [3]string
}

func (r *replicas) start(t *testing.T, i int, address string) {
	t.Helper()
	r.processes[i] = startProcess(t, r.database, "DRAIN_DELAY="+r.delay.String(), "DATABASE_MAX_CONNS=10", "LISTEN_ADDR="+address)
	r.addresses[i] = strings.TrimPrefix(r.processes[i].url, "http://")
}

func (r *replicas) restart(t *testing.T, i int) {
	t.Helper()
	r.processes[i].signal(t, syscall.SIGTERM)
	if code := r.processes[i].exit(t, 20*time.Second); code != 0 {
		t.Errorf("exit %d", code)
	}
	r.start(t, i, r.addresses[i])
	r.awaitInRotation(t)
}

// awaitInRotation waits until each is seen to serve.
func (r *replicas) awaitInRotation(t *testing.T) {
	t.Helper()
	for _, p := range r.processes {
		p.match(t, `"route":"/work"`)
	}
}
