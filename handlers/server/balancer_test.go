package server_test

import (
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// balancer hands TCP connections in turn to the servers whose /readyz says yes, or
// has said no for less than lag.
type balancer struct {
	l       net.Listener
	lag     time.Duration
	servers []*served
	next    int
}

// served is a server of a balancer.
type served struct {
	address string
	lastYes atomic.Int64 // in Unix nanoseconds
}

// startBalancer starts one for the addresses, and returns its own.
func startBalancer(t *testing.T, addresses []string, lag time.Duration) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	b := &balancer{l: l, lag: lag}
	for _, address := range addresses {
		b.servers = append(b.servers, &served{address: address})
	}
	stop := make(chan struct{})
	var watching sync.WaitGroup
	for _, s := range b.servers { // each for itself: one that starts answers late
		watching.Go(func() { s.watch(stop) })
	}
	go b.accept()
	t.Cleanup(func() { close(stop); watching.Wait(); l.Close() })
	return l.Addr().String()
}

func (s *served) watch(stop chan struct{}) {
	for {
		if status("http://"+s.address+"/readyz") == http.StatusOK {
			s.lastYes.Store(time.Now().UnixNano())
		}
		select {
		case <-stop:
			return
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func (b *balancer) accept() {
	for {
		front, err := b.l.Accept()
		if err != nil {
			return
		}
		back, err := net.Dial("tcp", b.choose())
		if err != nil {
			front.Close()
			continue
		}
		go pipe(front, back)
		go pipe(back, front)
	}
}

// choose returns the next server in rotation, or where there is none the one
// that was last in it.
func (b *balancer) choose() string {
	last := b.servers[0]
	for range b.servers {
		b.next++
		s := b.servers[b.next%len(b.servers)]
		if time.Since(time.Unix(0, s.lastYes.Load())) < b.lag {
			return s.address
		}
		if s.lastYes.Load() > last.lastYes.Load() {
			last = s
		}
	}
	return last.address
}

// pipe ends both connections when one side has ended.
func pipe(to, from net.Conn) {
	_, _ = io.Copy(to, from)
	to.Close()
	from.Close()
}
