package localpg

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// copyCluster makes a cluster for a temporary server: initdb takes half a second, a copy of its result a tenth of that.
func (i installation) copyCluster(ctx context.Context, dir string) error {
	template, err := i.template(ctx)
	if err != nil {
		return i.initdb(ctx, dir, temporary...)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	if err := i.account.give(dir); err != nil {
		return err
	}
	out, err := i.account.command(ctx, "cp", "-R", template+"/.", dir).CombinedOutput()
	if err != nil {
		return fmt.Errorf("copy a cluster: %w\n%s", err, out)
	}
	return nil
}

// temporary are arguments for a cluster that need not survive the machine, and should be small.
var temporary = []string{"--no-sync", "--wal-segsize=1"}

// template is a cluster to copy, made on first use. Whoever is second in a race uses the first one's.
func (i installation) template(ctx context.Context) (string, error) {
	cache, err := cacheDir(i.account)
	if err != nil {
		return "", err
	}
	template := filepath.Join(cache, "cluster-"+i.version)
	if _, err := os.Stat(template); err == nil {
		return template, nil
	}
	workshop, err := os.MkdirTemp(cache, "new-")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(workshop) }()
	if err := i.account.give(workshop); err != nil {
		return "", err
	}
	made := filepath.Join(workshop, "cluster")
	if err := i.initdb(ctx, made, temporary...); err != nil {
		return "", err
	}
	if err := os.Rename(made, template); err != nil && !errors.Is(err, os.ErrExist) {
		return "", err
	}
	return template, nil
}

// cacheDir is a directory that stays and that nobody but the account may enter.
func cacheDir(a account) (string, error) {
	if home, err := os.UserCacheDir(); err == nil && !a.lent {
		if os.MkdirAll(home, 0o700) == nil {
			if dir, err := ensureDir(filepath.Join(home, "subproduct-pg"), a.uid, 0o700); err == nil {
				return dir, nil
			}
		}
	}
	return ensureDir(filepath.Join(os.TempDir(), "subproduct-pg-cache-"+strconv.Itoa(a.uid)), a.uid, 0o700)
}
