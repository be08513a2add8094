package speed

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"example.com/subproduct/tenancy/localpg"
)

const stuck = 48 // requests of one tenant

// BenchmarkStuck has requests of one tenant hang in slow statements, and reports
// the other tenants' 99th percentile then as a multiple of what it is without.
func BenchmarkStuck(b *testing.B) {
	pg, err := localpg.Start(b.Context(), localpg.Options{Params: map[string]string{"max_connections": "100"}})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = pg.Stop() })
	fill(b, pg.URL("postgres"), 0, 20)
	s := startServer(b, pg.URL("postgres"))
	ask := func() result { return s.ask(b, "/api/query", 20, false, "SPEED_FIRST=1") }
	for b.Loop() {
		ask() // warms up
		var without, with []result
		for range number("SPEED_ROUNDS", 5) {
			without = append(without, ask())
			release := s.hang(b, pg.URL("postgres"))
			with = append(with, ask())
			release()
		}
		p99 := func(r result) float64 { return r.P99 }
		b.ReportMetric(0, "ns/op")
		b.ReportMetric(median(without, p99), "ms-p99-undisturbed")
		b.ReportMetric(median(with, p99), "ms-p99-disturbed")
		b.ReportMetric(median(with, p99)/median(without, p99), "p99×undisturbed")
		b.ReportMetric(ratio(with, without), "rate×undisturbed")
	}
}

// hang returns when the first tenant has all the connections that it can get.
// release ends its requests.
func (s *running) hang(b *testing.B, url string) (release func()) {
	b.Helper()
	ctx, cancel := context.WithCancel(b.Context())
	var all sync.WaitGroup
	for range stuck {
		all.Go(func() {
			for ctx.Err() == nil { // the server ends them too
				request, _ := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.app+"/api/stuck", nil)
				request.AddCookie(&http.Cookie{Name: "session", Value: token(0)})
				if answer, err := http.DefaultClient.Do(request); err == nil {
					_ = answer.Body.Close()
				}
			}
		})
	}
	conn, err := pgx.Connect(b.Context(), url)
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close(b.Context())
	for asleep := 0; asleep < 2; time.Sleep(10 * time.Millisecond) {
		if err := conn.QueryRow(b.Context(), `SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'`).Scan(&asleep); err != nil {
			b.Fatal(err)
		}
	}
	return func() { cancel(); all.Wait() }
}
