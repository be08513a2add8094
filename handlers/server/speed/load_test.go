package speed

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"
)

// load asks for one path, as every tenant in turn, from connections that are
// kept, and prints what came of it.
func load() error {
	tenants, _ := strconv.Atoi(os.Getenv("SPEED_TENANTS"))
	end := time.Now().Add(time.Duration(number("SPEED_SECONDS", 3)) * time.Second)
	took := make([][]time.Duration, number("SPEED_CLIENTS", 64))
	failed := make([]int, len(took))
	var clients sync.WaitGroup
	for i := range took {
		clients.Go(func() { took[i], failed[i] = client(i, tenants, end) })
	}
	clients.Wait()
	all := slices.Concat(took...)
	slices.Sort(all)
	r := result{Rate: float64(len(all)) / float64(number("SPEED_SECONDS", 3))}
	for _, n := range failed {
		r.Failed += n
	}
	if len(all) > 0 {
		r.P50, r.P99 = ms(all[len(all)/2]), ms(all[len(all)*99/100])
	}
	return json.NewEncoder(os.Stdout).Encode(r)
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func client(seed, tenants int, end time.Time) (took []time.Duration, failed int) {
	conn, err := net.Dial("tcp", os.Getenv("SPEED_ADDRESS"))
	if err != nil {
		return nil, 1
	}
	defer conn.Close()
	answers := bufio.NewReaderSize(conn, 8<<10)
	random := rand.New(rand.NewPCG(1, uint64(seed)))
	first := number("SPEED_FIRST", 0) // tenants before it are not asked for
	next := func() int { return first + random.IntN(tenants-first) }
	if os.Getenv("SPEED_ZIPF") == "true" {
		zipf := rand.NewZipf(random, 1.1, 1, uint64(tenants-1))
		next = func() int { return int(zipf.Uint64()) }
	}
	for time.Now().Before(end) {
		tenant := next()
		began := time.Now()
		fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: localhost\r\nCookie: session=%s\r\n\r\n", os.Getenv("SPEED_PATH"), token(tenant))
		body, ok := answer(answers)
		if !ok || os.Getenv("SPEED_FOREIGN") != "" && !bytes.Contains(body, fmt.Appendf(nil, "of t%d\"", tenant)) {
			failed++
			return took, failed
		}
		took = append(took, time.Since(began))
	}
	return took, failed
}

// answer reads one with a Content-Length.
func answer(r *bufio.Reader) (body []byte, ok bool) {
	length := 0
	for i := 0; ; i++ {
		line, err := r.ReadSlice('\n')
		if err != nil {
			return nil, false
		}
		if i == 0 && !bytes.Contains(line, []byte(" 200 ")) {
			return nil, false
		}
		if len(line) == 2 {
			break
		}
		if value, found := bytes.CutPrefix(line, []byte("Content-Length: ")); found {
			length, _ = strconv.Atoi(string(bytes.TrimSpace(value)))
		}
	}
	body = make([]byte, length)
	_, err := io.ReadFull(r, body)
	return body, err == nil && length > 0
}

// token is the cookie of the tenant's user.
func token(tenant int) string { return fmt.Sprintf("speed-%037d", tenant) }
