package localpg

import (
	"context"
	"errors"
	"fmt"
	"os"
)

// sweepScript waits until nobody holds the other end any more: neither the parent nor a process of postgres.
const sweepScript = `read -r _ <&3; rm -rf "$1" || { sleep 1; rm -rf "$1"; }`

// sweeper removes a directory after the server's end, also when this process cannot do it any more.
type sweeper struct {
	dir  string
	hold *os.File // the directory stays while any process has this open
	done chan struct{}
}

func newSweeper(a account, dir string) (*sweeper, error) {
	out, hold, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer out.Close()
	c := a.command(context.Background(), "/bin/sh", "-c", sweepScript, "localpg", dir)
	c.ExtraFiles = []*os.File{out}
	if err := c.Start(); err != nil {
		_ = hold.Close()
		return nil, fmt.Errorf("start the sweeper of %s: %w", dir, err)
	}
	s := &sweeper{dir: dir, hold: hold, done: make(chan struct{})}
	go func() {
		defer close(s.done)
		_ = c.Wait()
	}()
	return s, nil
}

// close lets the directory go and waits until it has gone.
func (s *sweeper) close() error {
	if s == nil {
		return nil
	}
	err := s.hold.Close()
	<-s.done
	return errors.Join(err, os.RemoveAll(s.dir)) // should it have been killed
}
