package localpg

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// makeBase makes the directory that keeps the data, which is the account's: in
// DataDir or, where the account cannot enter that, in the account's home.
func (s *Server) makeBase(ctx context.Context) (err error) {
	if s.options.DataDir == "" {
		s.base, err = s.account.tempDir(s.options.TempDir)
		s.scratch = s.base
		return err
	}
	dir, err := filepath.Abs(s.options.DataDir)
	if err := errors.Join(err, os.MkdirAll(dir, 0o755)); err != nil {
		return err
	}
	s.base = filepath.Join(dir, "postgres")
	if s.account.command(ctx, "/bin/sh", "-c", `cd "$1"`, "sh", dir).Run() != nil {
		home, err := s.account.home()
		if err != nil {
			return err
		}
		s.base = filepath.Join(home, fmt.Sprintf("data-%.8x", sha256.Sum256([]byte(dir))))
		s.options.Logger.Info("the data is kept elsewhere: postgres must not run as root, and its user cannot enter the directory", "directory", dir, "data", s.base)
	}
	return errors.Join(os.MkdirAll(s.base, 0o700), s.account.give(s.base))
}

// cluster is what postgres itself calls its data directory. A major version
// cannot read another's.
func (s *Server) cluster() string { return filepath.Join(s.base, "pg"+s.programs.major) }

// ensureCluster makes the cluster if there is none. It has its name only once it
// is complete.
func (s *Server) ensureCluster(ctx context.Context) error {
	if _, err := os.Stat(s.cluster()); err == nil {
		return nil
	}
	half, fill := filepath.Join(s.base, "half-made"), s.initdb
	if s.options.DataDir == "" {
		fill = s.copyTemplate
	}
	if err := os.RemoveAll(half); err != nil {
		return err
	}
	if err := fill(ctx, half); err != nil {
		return err
	}
	return os.Rename(half, s.cluster())
}

// initdb makes a cluster in dir. Older systems of Apple do not have the locale
// C.UTF-8.
func (s *Server) initdb(ctx context.Context, dir string) error {
	args := []string{"-D", dir, "-U", "postgres", "-A", "trust", "-E", "UTF8"}
	if s.options.DataDir == "" {
		args = append(args, "--no-sync", "--wal-segsize=1")
	}
	err := s.execute(ctx, s.program("initdb"), append(args, "--locale=C.UTF-8")...)
	if err != nil && s.execute(ctx, s.program("initdb"), append(args, "--locale=C")...) == nil {
		return nil
	}
	return err
}

// copyTemplate makes a temporary server's cluster. initdb takes half a second;
// unpacking what it made for an earlier server takes a tenth of that.
func (s *Server) copyTemplate(ctx context.Context, dir string) error {
	home, err := s.account.home()
	if err != nil {
		return s.initdb(ctx, dir)
	}
	template := filepath.Join(home, "cluster-"+s.programs.version+".tar")
	if s.execute(ctx, "tar", "-xf", template, "-C", s.base) == nil {
		return nil
	}
	if err := errors.Join(os.RemoveAll(dir), s.initdb(ctx, dir)); err != nil {
		return err
	}
	// Renamed when complete: whoever is second in a race replaces it with its like.
	const keep = `umask 022; tar -cf "$1" -C "$2" half-made && mv "$1" "$3" || rm -f "$1"`
	_ = exec.CommandContext(ctx, "/bin/sh", "-c", keep, "sh", filepath.Join(home, filepath.Base(s.base)), s.base, template).Run()
	return nil
}
