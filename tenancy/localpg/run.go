package localpg

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"time"
)

// guardScript keeps postgres only as long as this process keeps a pipe open: every way to die closes it.
//
//go:embed guard.sh
var guardScript string

// run is postgres from a start to its end.
type run struct {
	orders  *os.File      // to the guard; closing it ends postgres
	done    chan struct{} // closed: every process of postgres has ended
	guarded chan struct{} // closed: the guard has ended
	pid     atomic.Int64
}

// launch starts postgres and returns when it is ready. All its processes hold lock open from then on.
func (s *Server) launch(ctx context.Context, lock *os.File) (*run, error) {
	stale := readPidFile(s.cluster())
	r, err := s.spawn(lock)
	if err != nil {
		return nil, fmt.Errorf("start the guard of postgres: %w", err)
	}
	if err := r.waitReady(ctx, s.cluster(), stale); err != nil {
		return nil, fmt.Errorf("%w; the end of its log:\n%s", errors.Join(err, r.close()), tail(s.logFile()))
	}
	return r, nil
}

func (s *Server) spawn(lock *os.File) (*run, error) {
	log, err := os.OpenFile(s.logFile(), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	ordersOut, orders, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer ordersOut.Close()
	life, lifeIn, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, orders.Close())
	}
	defer lifeIn.Close()
	c := s.postgres.account.command(context.Background(), "/bin/sh", s.guardArgs()...)
	c.Stdout, c.Stderr = log, log
	c.ExtraFiles = []*os.File{ordersOut, lifeIn, lock, s.sweeper.hold}
	if err := c.Start(); err != nil {
		return nil, errors.Join(err, orders.Close(), life.Close())
	}
	r := &run{orders: orders, done: make(chan struct{}), guarded: make(chan struct{})}
	go r.watchLife(life)
	go r.watchGuard(c, s.cluster())
	return r, nil
}

func (s *Server) guardArgs() []string {
	args := []string{"-c", guardScript, "localpg", filepath.Join(s.postgres.bin, "postgres"), "-D", s.cluster()}
	return append(args, s.settings()...)
}

// watchLife waits until the last process of postgres has closed its end, and has the guard reap it.
func (r *run) watchLife(life *os.File) {
	_, _ = io.Copy(io.Discard, life)
	_ = life.Close()
	r.order("gone")
	close(r.done)
}

// watchGuard reaps the guard. A postgres whose guard was killed has nobody left who would end it with us: it ends now.
func (r *run) watchGuard(c *exec.Cmd, cluster string) {
	_ = c.Wait()
	for r.alive() {
		signalPostmaster(cluster, quit)
		select {
		case <-r.done:
		case <-time.After(time.Second): // it may have been too young to hear
		}
	}
	_ = r.orders.Close()
	close(r.guarded)
}

// order sends a word to the guard. Nobody is there to hear it when postgres has ended.
func (r *run) order(word string) { _, _ = io.WriteString(r.orders, word+"\n") }

// alive tells whether any process of postgres is left.
func (r *run) alive() bool {
	if r == nil {
		return false
	}
	select {
	case <-r.done:
		return false
	default:
		return true
	}
}

// close ends postgres, with force after some seconds, and returns when all its processes have gone.
func (r *run) close() error {
	err := r.orders.Close()
	<-r.guarded
	<-r.done
	if errors.Is(err, os.ErrClosed) {
		return nil
	}
	return err
}
