package localpg

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// ensureCluster makes the cluster if there is none yet.
func (s *Server) ensureCluster(ctx context.Context) error {
	cluster := s.cluster()
	if _, err := os.Stat(filepath.Join(cluster, "global", "pg_control")); err == nil {
		return nil
	}
	if err := s.setAside(cluster); err != nil {
		return err
	}
	if s.options.DataDir == "" {
		return s.postgres.copyCluster(ctx, cluster)
	}
	half := cluster + ".half"
	if err := os.RemoveAll(half); err != nil {
		return err
	}
	if err := s.postgres.initdb(ctx, half); err != nil {
		return err
	}
	return os.Rename(half, cluster)
}

// setAside moves away what is no cluster but stands in its place. It is not ours to delete.
func (s *Server) setAside(cluster string) error {
	if err := os.Remove(cluster); err == nil || errors.Is(err, os.ErrNotExist) {
		return nil
	}
	aside, err := os.MkdirTemp(filepath.Dir(cluster), filepath.Base(cluster)+".broken-")
	if err != nil {
		return err
	}
	s.options.Logger.Warn("half a database cluster is set aside", "path", cluster, "to", aside)
	return os.Rename(cluster, aside)
}

// initdb makes a cluster in dir, which must not exist. extra are further arguments.
func (i installation) initdb(ctx context.Context, dir string, extra ...string) error {
	var failure error
	// Older systems of Apple have no C.UTF-8.
	for _, locale := range []string{"C.UTF-8", "C"} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return err
		}
		if err := i.account.give(dir); err != nil {
			return err
		}
		args := append([]string{"-D", dir, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=" + locale, "--no-instructions"}, extra...)
		out, err := i.account.command(ctx, filepath.Join(i.bin, "initdb"), args...).CombinedOutput()
		if err == nil {
			return nil
		}
		failure = errors.Join(fmt.Errorf("initdb: %w\n%s", err, out), os.RemoveAll(dir))
		if !strings.Contains(string(out), "locale") {
			break
		}
	}
	return failure
}
