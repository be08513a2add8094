// Package speed measures what the tenancy costs: a signed-in read over HTTP, by
// each way there is to a tenant's data, beside the same server and query on one
// fixed search_path (the limit) and beside a bare Echo. All run in turns, in one
// run, on one PostgreSQL:
//
//	go test -run xxx -bench Request -benchtime 1x -timeout 60m ./handlers/server/speed
//
// SPEED_SECONDS is how long each turn takes (3), SPEED_ROUNDS how many there are
// (5), SPEED_CLIENTS how many connections ask (64). The server, those who ask
// and PostgreSQL are processes of their own. SPEED_PROFILE names a folder for
// profiles of the server, of processor time and of allocations, by way.
//
// -bench Stuck has 48 requests of one tenant hang, and measures the others.
package speed

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"example.com/subproduct/tenancy/localpg"
)

func TestMain(m *testing.M) {
	switch os.Getenv("SPEED_ROLE") {
	case "server":
		check(serve())
	case "load":
		check(load())
	default:
		os.Exit(m.Run())
	}
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// ways are the paths that are asked for, and the way that each is held against.
var ways = []struct{ name, path, limit string }{
	{"limit", "/api/limit", "limit"},
	{"Query", "/api/query", "limit"},
	{"InTx", "/api/intx", "limit"},
	{"limit-3", "/api/limit3", "limit-3"},
	{"InTx-3", "/api/intx3", "limit-3"},
	{"limit-50", "/api/limit50", "limit-50"},
	{"Query-50", "/api/query50", "limit-50"},
	{"bare", "bare", "bare"},
}

var modes = []struct {
	name    string
	tenants int
	zipf    bool
	warmUp  int // seconds, for the connections to meet the tenants, as those of a server have that runs for some time
}{{"20", 20, false, 1}, {"1000-zipf", 1000, true, 5}, {"1000-uniform", 1000, false, 5}, {"10000-uniform", 10_000, false, 60}}

// BenchmarkRequest prints a table: ratio to the limit, and to the bare Echo.
func BenchmarkRequest(b *testing.B) {
	pg, err := localpg.Start(b.Context(), localpg.Options{Params: map[string]string{"max_connections": "100", "shared_buffers": "512MB"}})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = pg.Stop() })
	filled := 0
	for _, mode := range modes {
		b.Run(mode.name, func(b *testing.B) {
			fill(b, pg.URL("postgres"), filled, mode.tenants)
			filled = max(filled, mode.tenants)
			s := startServer(b, pg.URL("postgres"))
			for b.Loop() {
				results := map[string][]result{}
				s.ask(b, "/api/query", mode.tenants, mode.zipf, "SPEED_SECONDS="+strconv.Itoa(mode.warmUp))
				for round := range 1 + number("SPEED_ROUNDS", 5) {
					for _, way := range ways {
						r := s.ask(b, way.path, mode.tenants, mode.zipf)
						if round > 0 { // the first warms up
							results[way.name] = append(results[way.name], r)
						}
					}
				}
				report(b, results)
			}
		})
	}
}

func number(name string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return otherwise
}

// result is what one turn of one way came to.
type result struct {
	Rate, P50, P99       float64 // a second; milliseconds
	Failed               int
	server, database     float64 // microseconds of processor a request
	mallocs, trips, most float64 // a request; the largest backend in MiB
}

func report(b *testing.B, results map[string][]result) {
	b.Helper()
	fmt.Printf("\n%-10s %9s %8s %8s %8s %8s %9s %9s %7s %6s %8s\n", b.Name()[len("BenchmarkRequest/"):],
		"per s", "×limit", "×bare", "p50 ms", "p99 ms", "server µs", "database", "allocs", "trips", "MiB")
	for _, way := range ways {
		rs := results[way.name]
		ratio := ratio(rs, results[way.limit])
		fmt.Printf("%-10s %9.0f %8.2f %8.2f %8.2f %8.2f %9.0f %9.0f %7.0f %6.1f %8.1f\n", way.name,
			median(rs, func(r result) float64 { return r.Rate }), ratio, versusBare(rs, results["bare"]),
			median(rs, func(r result) float64 { return r.P50 }), median(rs, func(r result) float64 { return r.P99 }),
			median(rs, func(r result) float64 { return r.server }), median(rs, func(r result) float64 { return r.database }),
			median(rs, func(r result) float64 { return r.mallocs }), median(rs, func(r result) float64 { return r.trips }),
			median(rs, func(r result) float64 { return r.most }))
		if way.name != way.limit {
			b.ReportMetric(ratio, way.name+"×limit")
		}
	}
}

func versusBare(rs, bare []result) float64 { return ratio(rs, bare) }

// ratio is the median of the rounds' ratios.
func ratio(rs, limit []result) float64 {
	all := make([]float64, len(rs))
	for i := range rs {
		all[i] = rs[i].Rate / limit[i].Rate
	}
	slices.Sort(all)
	return all[len(all)/2]
}

func median(rs []result, of func(result) float64) float64 {
	all := make([]float64, len(rs))
	for i, r := range rs {
		all[i] = of(r)
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// ask has the load process ask for path, and reads what it cost.
func (s *running) ask(b *testing.B, path string, tenants int, zipf bool, env ...string) result {
	b.Helper()
	defer s.profile(path)()
	before := s.cost(b)
	address := s.app
	if path == "bare" {
		address, path = s.bare, "/"
	}
	var r result
	output := s.spawn(b, "load", append(env, "SPEED_ADDRESS="+address, "SPEED_PATH="+path, "SPEED_TENANTS="+strconv.Itoa(tenants),
		"SPEED_ZIPF="+strconv.FormatBool(zipf))...)
	if err := json.Unmarshal(output, &r); err != nil || r.Failed > 0 {
		b.Fatalf("%s: %s %v", path, output, err)
	}
	after := s.cost(b)
	n := r.Rate * float64(number("SPEED_SECONDS", 3))
	r.server, r.database = (after.server-before.server)*1e6/n, (after.database-before.database)*1e6/n
	r.mallocs, r.trips = (after.mallocs-before.mallocs)/n, (after.trips-before.trips)/n
	r.most = after.most
	return r
}

// cost is what server and database have used so far.
type cost struct{ server, database, mallocs, trips, most float64 }

func (s *running) cost(b *testing.B) (c cost) {
	b.Helper()
	answer, err := http.Get("http://" + s.bare + "/cost")
	if err != nil {
		b.Fatal(err)
	}
	defer answer.Body.Close()
	if _, err := fmt.Fscan(answer.Body, &c.mallocs, &c.trips); err != nil {
		b.Fatal(err)
	}
	c.server = processor(s.pid)
	c.database, c.most = s.backends()
	return c
}

// processor returns the seconds of processor time of a process.
func processor(pid int) float64 {
	fields := stat(pid)
	user, _ := strconv.ParseFloat(fields[11], 64)
	system, _ := strconv.ParseFloat(fields[12], 64)
	return (user + system) / 100
}

func parent(pid int) int { id, _ := strconv.Atoi(stat(pid)[1]); return id }

// stat is /proc's line behind the process's name.
func stat(pid int) []string {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, rest, _ := strings.Cut(string(text), ") ")
	return append(strings.Fields(rest), make([]string, 20)...)
}
