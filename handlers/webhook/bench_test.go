package webhook_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"example.com/subproduct/handlers/handlertest"
	"example.com/subproduct/handlers/handlertest/fixture"
	"example.com/subproduct/handlers/platform"
	"example.com/subproduct/tenancy/localpg"
)

const (
	benchConnections = 32
	benchRound       = 320 // events a side and a round
	wantRatio        = 0.8
)

// BenchmarkAcknowledged measures events a second that the server acknowledges,
// of a type without a handler, against the limit: a bare net/http handler that
// verifies the same bytes and inserts them into a table of nothing else. Both
// take turns in small rounds, over the same PostgreSQL and with as many
// connections to it; "ratio" is the median of the rounds. What is acknowledged
// is on the disk, as in production; with fsync off, as in the other tests, all
// that is left to compare is the processor's work.
func BenchmarkAcknowledged(b *testing.B) {
	for name, fast := range map[string]bool{"durable": false, "fsync=off": true} {
		b.Run(name, func(b *testing.B) { benchmarkAcknowledged(b, fast) })
	}
}

func benchmarkAcknowledged(b *testing.B, fast bool) {
	site := benchSite(b, fast)
	benchmark(b, site, wantRatio, func(n int) string {
		return fmt.Sprintf(`{"eventType":"invoice.paid","eventId":"evt_%012d","tenantSlug":"acme","occurredAt":"2026-07-02T10:00:00Z",`+
			`"data":{"invoiceId":"inv_%012d","total":"129.00","currency":"EUR","planType":"Pro","subscriptionStatus":"Active"}}`, n, n)
	})
}

const (
	flipTenants   = 160
	wantFlipRatio = 0.5
)

// BenchmarkFlips is the same with lifecycle events that are applied: tenants
// that are there are cancelled and subscribe again, in turn.
func BenchmarkFlips(b *testing.B) {
	for name, fast := range map[string]bool{"durable": false, "fsync=off": true} {
		b.Run(name, func(b *testing.B) {
			site := benchSite(b, fast)
			flip := func(n int) string {
				return fmt.Sprintf(`{"eventType":%q,"eventId":"evt_%012d","tenantSlug":"t%d","planType":"Pro"}`,
					[]string{platform.SubscriptionCreated, platform.TenantCancelled}[n/flipTenants%2], n, n%flipTenants)
			}
			for i := range flipTenants {
				if err := postSigned(http.DefaultClient, site.URL+path, signed(flip(i))); err != nil {
					b.Fatal(err)
				}
			}
			benchmark(b, site, wantFlipRatio, func(n int) string { return flip(flipTenants + n) })
		})
	}
}

func benchSite(b *testing.B, fast bool) *handlertest.Site {
	server, err := localpg.Start(b.Context(), localpg.Options{Fast: fast})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = server.Stop() })
	return handlertest.Start(b, fixture.Product(), handlertest.Setup{Database: server.URL("postgres")})
}

// benchmark sends events to the site and to the bare receiver in turn.
func benchmark(b *testing.B, site *handlertest.Site, want float64, event func(n int) string) {
	bare := bareReceiver(b, site)
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: benchConnections}}
	b.Cleanup(client.CloseIdleConnections)
	var ours, limit time.Duration
	var ratios []float64
	events := 0
	for b.Loop() {
		var round []signedEvent
		for range benchRound {
			round = append(round, signed(event(events)))
			events++
		}
		o, l := flood(b, client, site.URL+path, round), flood(b, client, bare, round)
		ours, limit = ours+o, limit+l
		ratios = append(ratios, l.Seconds()/o.Seconds())
	}
	slices.Sort(ratios)
	ratio := ratios[len(ratios)/2]
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(events)/ours.Seconds(), "events/s")
	b.ReportMetric(float64(events)/limit.Seconds(), "limit/s")
	b.ReportMetric(ratio, "ratio")
	if len(ratios) >= 20 && ratio < want {
		b.Logf("%.2f of the limit, want at least %.2f; %v", ratio, want, ratios)
	}
}

// bareReceiver is the limit: what no receiver can do without.
func bareReceiver(b *testing.B, site *handlertest.Site) (url string) {
	site.Exec(b, `CREATE TABLE public.bare (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, body bytea NOT NULL)`)
	config, err := pgxpool.ParseConfig(site.Database)
	if err != nil {
		b.Fatal(err)
	}
	config.MaxConns = int32(site.Config.DatabaseMaxConns)
	pool, err := pgxpool.NewWithConfig(context.Background(), config)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(pool.Close)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || !platform.Verify(handlertest.WebhookSecret, body, r.Header.Get(platform.SignatureHeader)) {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		if _, err := pool.Exec(r.Context(), `INSERT INTO public.bare (body) VALUES ($1)`, body); err != nil {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	b.Cleanup(server.Close)
	return server.URL
}

type signedEvent struct{ body, signature string }

func signed(body string) signedEvent {
	return signedEvent{body, platform.Sign(handlertest.WebhookSecret, []byte(body))}
}

// flood posts the events over all connections and returns how long that took.
func flood(b *testing.B, client *http.Client, url string, events []signedEvent) time.Duration {
	var senders sync.WaitGroup
	began := time.Now()
	for s := range benchConnections {
		senders.Go(func() {
			for i := s; i < len(events); i += benchConnections {
				if err := postSigned(client, url, events[i]); err != nil {
					b.Error(err)
				}
			}
		})
	}
	senders.Wait()
	return time.Since(began)
}

func postSigned(client *http.Client, url string, e signedEvent) error {
	request, err := http.NewRequest(http.MethodPost, url, strings.NewReader(e.body))
	if err != nil {
		return err
	}
	request.Header.Set(platform.SignatureHeader, e.signature)
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	_, err = io.Copy(io.Discard, response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("answer %d", response.StatusCode)
	}
	return err
}
