package server_test

import (
	"net/http"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"example.com/subproduct/handlers/handlertest"
	"example.com/subproduct/tenancy/localpg/pgtest"
)

// ROLLING_TIME=30s is the long form: restarts for so long at least, behind balancers
// that lag 4 s, with the default's DRAIN_DELAY. The short one has each replica
// restarted once.
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
	database, env := pgtest.URL(t), []string{"DRAIN_DELAY=" + delay.String(), "DATABASE_MAX_CONNS=10"}
	var replicas []*process
	var addresses []string
	for range 3 {
		p := startProcess(t, database, env...)
		replicas, addresses = append(replicas, p), append(addresses, strings.TrimPrefix(p.url, "http://"))
	}
	url := "http://" + start(t, addresses, lag)
	handlertest.Await(t, "the balancer serves", func() bool { return status(url+"/readyz") == http.StatusOK })
	l, began, restarts := newLoad(url), time.Now(), 0
	for restarts == 0 || time.Since(began) < length {
		for i, p := range replicas {
			p.match(t, `"route":"/work"`) // it is in rotation
			p.signal(t, syscall.SIGTERM)
			if code := p.exit(t, 20*time.Second); code != 0 {
				t.Errorf("exit %d", code)
			}
			replicas[i] = startProcess(t, database, slices.Concat(env, []string{"LISTEN_ADDR=" + addresses[i]})...)
			restarts++
			replicas[i].match(t, `"route":"/work"`)
		}
	}
	answered, acknowledged, failures := l.end()
	t.Logf("%d restarts in %v: %d answered, %d failed", restarts, time.Since(began).Round(time.Second/10), answered, len(failures))
	if answered < 100 {
		t.Errorf("only %d were answered", answered)
	}
	awaitDone(t, database, acknowledged)
	return failures
}
