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
)

// guardScript keeps postgres only as long as this process keeps a pipe open: every way to die closes it.
//
//go:embed guard.sh
var guardScript string

// run is postgres between one start and its end.
type run struct {
	orders *os.File      // to the guard; its end ends postgres
	done   chan struct{} // every process of postgres has ended
	guard  chan struct{} // the guard has ended
	pid    int           // known once ready
}

// launch starts postgres under its guard. It takes over lock, which from then on belongs to postgres.
func (s *Server) launch(lock *os.File) (*run, error) {
	defer func() { _ = lock.Close() }()
	log, err := os.OpenFile(s.logFile(), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }()
	ordersOut, orders, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	life, lifeIn, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, ordersOut.Close(), orders.Close())
	}
	c := s.postgres.account.command(context.Background(), "/bin/sh", append([]string{"-c", guardScript, "localpg"}, s.postgresCommand()...)...)
	c.Stdout, c.Stderr = log, log
	c.ExtraFiles = []*os.File{ordersOut, lifeIn, lock, s.sweeper.hold}
	err = errors.Join(c.Start(), ordersOut.Close(), lifeIn.Close())
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start the guard of postgres: %w", err), orders.Close(), life.Close())
	}
	r := &run{orders: orders, done: make(chan struct{}), guard: make(chan struct{})}
	go r.watchLife(life)
	go r.watchGuard(c, s.cluster())
	return r, nil
}

func (s *Server) postgresCommand() []string {
	command := []string{filepath.Join(s.postgres.bin, "postgres"), "-D", s.cluster()}
	return append(command, s.settings()...)
}

// watchLife waits until the last process of postgres has closed its end, and lets the guard reap it.
func (r *run) watchLife(life *os.File) {
	_, _ = io.Copy(io.Discard, life)
	_ = life.Close()
	r.order("gone")
	close(r.done)
}

// watchGuard reaps the guard. A postgres whose guard was killed has nobody left who would end it with us.
func (r *run) watchGuard(c *exec.Cmd, cluster string) {
	_ = c.Wait()
	close(r.guard)
	_ = r.orders.Close()
	select {
	case <-r.done:
	default:
		signalPostmaster(cluster, quit)
	}
}

// order sends a word to the guard; nobody is there to hear it when postgres has ended.
func (r *run) order(word string) { _, _ = io.WriteString(r.orders, word+"\n") }

// close ends postgres, with force after some seconds, and returns when all its processes have gone.
func (r *run) close() error {
	err := r.orders.Close()
	if errors.Is(err, os.ErrClosed) {
		err = nil
	}
	<-r.guard
	<-r.done
	return err
}
