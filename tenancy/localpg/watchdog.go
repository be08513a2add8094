package localpg

import (
	"context"
	_ "embed"
	"errors"
	"io"
	"os"
	"os/exec"
)

// watchdogScript is for sh, which macOS has as well as Linux.
//
//go:embed watchdog.sh
var watchdogScript string

// watchdog is a process that shuts postgres down when this one has ended, in
// whatever way.
type watchdog struct {
	command *exec.Cmd
	life    io.Closer // ends with this process
	hold    *os.File  // ends with the last process that inherited it
}

// makeScratch makes the directory of the socket, unless it is there, and the
// watchdog of it.
func (s *Server) makeScratch(context.Context) (err error) {
	if s.scratch == "" {
		if s.scratch, err = s.account.tempDir(""); err != nil {
			return err
		}
	}
	held, hold, err := os.Pipe()
	if err != nil {
		return err
	}
	defer held.Close()
	c := s.account.command(context.Background(), "/bin/sh", "-c", watchdogScript, "sh", s.program("pg_ctl"), s.cluster(), s.scratch)
	c.ExtraFiles = []*os.File{held, s.lock}
	life, err := c.StdinPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		return errors.Join(err, hold.Close())
	}
	s.watchdog = &watchdog{c, life, hold}
	return nil
}

// release has the watchdog do its work and returns when that is done. It returns
// an error when the watchdog was killed before.
func (w *watchdog) release() error {
	return errors.Join(w.life.Close(), w.hold.Close(), w.command.Wait())
}
