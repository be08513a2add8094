package localpg

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// startTimeout is ample for the crash recovery of a development database.
const startTimeout = 30 * time.Second

var errStopped = errors.New("the server has been stopped")

// Pid is the process id of the postmaster; 0 while it is halted.
func (s *Server) Pid() int {
	if r := s.current(); r.alive() {
		return int(r.pid.Load())
	}
	return 0
}

// Done is closed when every process of postgres has ended, whoever ended it. After Resume it is another channel.
func (s *Server) Done() <-chan struct{} { return s.current().done }

func (s *Server) current() *run {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.run
}

// Stop shuts the server down, waits until its last process has gone and removes what was temporary.
// Open connections are closed. Calling it again does nothing more.
func (s *Server) Stop() error { return s.stop() }

func (s *Server) end() error {
	s.changing.Lock()
	defer s.changing.Unlock()
	s.stopped = true
	var err error
	if r := s.current(); r != nil {
		err = r.close()
	}
	return errors.Join(err, s.sweeper.close(), disown(s.owner))
}

// Halt stops postgres but keeps data and socket directory for Resume. mode is one of pg_ctl's: "smart" waits for the
// clients to leave, "fast" sends them away, "immediate" is a crash. Halt returns when postgres has ended or ctx has.
func (s *Server) Halt(ctx context.Context, mode string) error {
	signals := map[string]string{"smart": "TERM", "fast": "INT", "immediate": "QUIT"}
	signal, known := signals[mode]
	if !known {
		return fmt.Errorf("halt postgres: unknown mode %q", mode)
	}
	r := s.current()
	r.order(signal)
	select {
	case <-r.done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("halt postgres: %w", context.Cause(ctx))
	}
}

// Resume starts postgres again after Halt, or after it was killed, with the same data and socket directory.
// It does nothing while postgres runs.
func (s *Server) Resume(ctx context.Context) error {
	s.changing.Lock()
	defer s.changing.Unlock()
	if s.stopped {
		return errStopped
	}
	if s.current().alive() {
		return nil
	}
	lock, err := s.takeOver(ctx)
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := s.ensureCluster(ctx, lock); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, startTimeout, fmt.Errorf("not ready after %s", startTimeout))
	defer cancel()
	r, err := s.launch(ctx, lock)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.run = r
	return nil
}

// Restart is Halt followed by Resume.
func (s *Server) Restart(ctx context.Context, mode string) error {
	if err := s.Halt(ctx, mode); err != nil {
		return err
	}
	return s.Resume(ctx)
}
