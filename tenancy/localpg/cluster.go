package localpg

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// ensureCluster makes the cluster if there is none yet. The programs that do it hold lock open: should this process be
// killed, the next one waits for them.
func (s *Server) ensureCluster(ctx context.Context, lock *os.File) error {
	cluster := s.cluster()
	if _, err := os.Stat(filepath.Join(cluster, "global", "pg_control")); err == nil {
		return nil
	}
	if err := s.setAside(cluster); err != nil {
		return err
	}
	maker := clusterMaker{s.postgres, []*os.File{lock, s.sweeper.hold}}
	if s.options.DataDir == "" {
		return maker.copyTemplate(ctx, cluster)
	}
	s.warnOfOthers()
	half := filepath.Join(s.base, "half-made")
	if err := os.RemoveAll(half); err != nil {
		return err
	}
	if err := maker.initdb(ctx, half); err != nil {
		return err
	}
	return os.Rename(half, cluster)
}

// setAside moves away what stands in the cluster's place but is none. It is not ours to delete.
func (s *Server) setAside(cluster string) error {
	if err := os.Remove(cluster); err == nil || errors.Is(err, os.ErrNotExist) {
		return nil
	}
	aside, err := os.MkdirTemp(s.base, "broken-")
	if err != nil {
		return err
	}
	s.options.Logger.Warn("what is no complete database cluster is set aside", "path", cluster, "to", aside)
	return os.Rename(cluster, filepath.Join(aside, filepath.Base(cluster)))
}

// warnOfOthers is for whoever finds an empty database after an upgrade of PostgreSQL.
func (s *Server) warnOfOthers() {
	if others, _ := filepath.Glob(filepath.Join(s.base, "pg*", "PG_VERSION")); len(others) > 0 {
		s.options.Logger.Warn("a new database cluster is made; the data in another version's stays there", "version", s.postgres.version, "other", filepath.Dir(others[0]))
	}
}

// clusterMaker makes clusters with programs that hold some files open.
type clusterMaker struct {
	installation
	files []*os.File
}

// initdb makes a cluster in dir, which must not exist. extra are further arguments.
func (m clusterMaker) initdb(ctx context.Context, dir string, extra ...string) error {
	err := m.initdbIn(ctx, "C.UTF-8", dir, extra)
	if err != nil && strings.Contains(err.Error(), "invalid locale") { // as on older systems of Apple
		err = m.initdbIn(ctx, "C", dir, extra)
	}
	return err
}

func (m clusterMaker) initdbIn(ctx context.Context, locale, dir string, extra []string) error {
	if err := m.account.mkdir(dir); err != nil {
		return err
	}
	args := append([]string{"-D", dir, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=" + locale, "--no-instructions"}, extra...)
	if err := m.execute(ctx, filepath.Join(m.bin, "initdb"), args...); err != nil {
		return errors.Join(err, os.RemoveAll(dir))
	}
	return nil
}

func (m clusterMaker) execute(ctx context.Context, program string, args ...string) error {
	c := m.account.command(ctx, program, args...)
	c.ExtraFiles = m.files
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", filepath.Base(program), errors.Join(err, context.Cause(ctx)), out)
	}
	return nil
}
