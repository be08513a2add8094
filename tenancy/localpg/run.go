package localpg

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// port is only a part of the socket's name here.
const port = "5432"

// Halt stops postgres but keeps data and socket directory for Resume. mode is one
// of pg_ctl's: "smart" waits for the clients to leave, "fast" sends them away,
// "immediate" is a crash. Halt returns an error when postgres does not run, or
// when ctx ends before it has ended.
func (s *Server) Halt(ctx context.Context, mode string) error {
	return s.control(ctx, "stop", "-m", mode, "-t", "3600")
}

// Resume starts postgres after Halt, with the same data and socket directory. It
// returns an error when postgres runs, or is not ready within 30 seconds, or
// after Stop.
func (s *Server) Resume(ctx context.Context) error {
	log := filepath.Join(s.base, "postgres.log")
	_ = os.Remove(log)
	err := s.control(ctx, "start", "-t", "30", "-l", log, "-o", strings.Join(s.settings(), " "))
	if err != nil {
		said, _ := os.ReadFile(log)
		return fmt.Errorf("%w\n%s", err, said)
	}
	return nil
}

// Restart is Halt followed by Resume.
func (s *Server) Restart(ctx context.Context, mode string) error {
	if err := s.Halt(ctx, mode); err != nil {
		return err
	}
	return s.Resume(ctx)
}

// settings are not written into the cluster: the next start may have others. Of
// several of one name the last wins.
func (s *Server) settings() []string {
	all := []string{"timezone=UTC", "log_timezone=UTC"}
	if s.options.Fast {
		// synchronous_commit stays on: it costs little without fsync, and a crash
		// loses nothing.
		all = append(all, "fsync=off", "full_page_writes=off", "shared_buffers=32MB")
	}
	for name, value := range s.options.Params {
		all = append(all, name+"="+value)
	}
	all = append(all, "listen_addresses=", "port="+port, "unix_socket_directories="+s.scratch)
	for i, setting := range all {
		all[i] = "-c '" + strings.ReplaceAll(setting, "'", `'\''`) + "'" // pg_ctl hands them to a shell
	}
	return all
}

func (s *Server) program(name string) string { return filepath.Join(s.programs.bin, name) }

// control runs pg_ctl.
func (s *Server) control(ctx context.Context, args ...string) error {
	if s.watchdog == nil {
		return errors.New("the server has been stopped")
	}
	return s.execute(ctx, s.program("pg_ctl"), append(args, "-D", s.cluster())...)
}

// execute runs a program. The watchdog and the next owner of the lock wait for
// all its processes.
func (s *Server) execute(ctx context.Context, program string, args ...string) error {
	c := s.account.command(ctx, program, args...)
	c.ExtraFiles = []*os.File{s.watchdog.hold, s.lock}
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", filepath.Base(program), errors.Join(err, context.Cause(ctx)), out)
	}
	return nil
}
