package localpg

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
)

// copyTemplate makes a cluster for a temporary server: initdb takes half a second, a copy of its result a tenth of that.
func (m clusterMaker) copyTemplate(ctx context.Context, dir string) error {
	template, err := m.cachedTemplate(ctx)
	if err != nil {
		return errors.Join(ctx.Err(), m.initdb(ctx, dir, temporary...))
	}
	if err := m.account.mkdir(dir); err != nil {
		return err
	}
	return m.execute(ctx, "tar", "-C", dir, "-xf", template)
}

// temporary are arguments for a cluster that need not survive a crash of the machine, and should be small.
var temporary = []string{"--no-sync", "--wal-segsize=1"}

func (m clusterMaker) cachedTemplate(ctx context.Context) (string, error) {
	cache, err := cacheDir(ctx, m.account)
	if err != nil {
		return "", err
	}
	return m.template(ctx, cache)
}

// template is an archive of a cluster, made in cache on first use. Whoever is second in a race replaces it with its like.
// It is one file because those who clean up temporary directories take away file by file.
func (m clusterMaker) template(ctx context.Context, cache string) (string, error) {
	template := filepath.Join(cache, "cluster-"+m.version+".tar")
	if _, err := os.Stat(template); err == nil {
		return template, nil
	}
	workshop, err := os.MkdirTemp(cache, "new-")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(workshop) }()
	if err := m.account.give(workshop); err != nil {
		return "", err
	}
	cluster, archive := filepath.Join(workshop, "cluster"), filepath.Join(workshop, "cluster.tar")
	if err := m.initdb(ctx, cluster, temporary...); err != nil {
		return "", err
	}
	if err := m.execute(ctx, "tar", "-C", cluster, "-cf", archive, "."); err != nil {
		return "", err
	}
	return template, os.Rename(archive, template)
}

// cacheDir is a directory that stays and that nobody but the account may enter.
func cacheDir(ctx context.Context, a account) (string, error) {
	if home, err := os.UserCacheDir(); err == nil && !a.lent && os.MkdirAll(home, 0o700) == nil {
		if dir, err := ensureDir(filepath.Join(home, prefix+"cache"), a.uid, 0o700); err == nil {
			return dir, nil
		}
	}
	return ensureDir(filepath.Join(tempDir(ctx, a), prefix+"cache-"+strconv.Itoa(a.uid)), a.uid, 0o700)
}
