package localpg

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
)

// prefix begins the name of every directory that we make in a place for everyone.
const prefix = "subproduct-pg-"

// maxTempDir leaves room for the rest of a socket's path in the 103 bytes that the shortest system allows.
const maxTempDir = 103 - len("/"+prefix+"1234567890"+"/.s.PGSQL."+port)

// newScratch makes the server's temporary directory, which only its user may enter, and the sweeper of it.
func newScratch(ctx context.Context, a account) (string, *sweeper, error) {
	parent := tempDir(ctx, a)
	// A comma separates hosts in URLs and directories in PostgreSQL's settings.
	if len(parent) > maxTempDir || strings.ContainsAny(parent, `,"`) {
		parent = "/tmp"
	}
	dir, err := os.MkdirTemp(parent, prefix)
	if err != nil {
		return "", nil, err
	}
	if err := a.give(dir); err != nil {
		return "", nil, errors.Join(err, os.Remove(dir))
	}
	sweeper, err := newSweeper(a, dir)
	if err != nil {
		return "", nil, errors.Join(err, os.Remove(dir))
	}
	return dir, sweeper, nil
}

// dataHome is the directory that holds the data for dir: dir itself, or a stable place for it when the user that postgres
// runs as cannot get there.
func dataHome(ctx context.Context, a account, dir string, log *slog.Logger) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return "", err
	}
	if reachable(ctx, a, dir) {
		return dir, nil
	}
	name := fmt.Sprintf("%s%.8x", prefix, sha256.Sum256([]byte(dir)))
	home, err := ensureDir(filepath.Join(tempDir(ctx, a), name), os.Geteuid(), 0o755)
	log.Info("the data lives elsewhere: postgres must not run as root, and no other user can enter the directory", "directory", dir, "data", home)
	return home, err
}

// tempDir is the system's directory for temporary files, or one for everyone when a private one was set for us.
func tempDir(ctx context.Context, a account) string {
	if dir := os.TempDir(); filepath.IsAbs(dir) && reachable(ctx, a, dir) {
		return dir
	}
	return "/tmp"
}

// reachable asks the system, by going there: permissions alone do not tell all.
func reachable(ctx context.Context, a account, dir string) bool {
	return !a.lent || a.command(ctx, "/bin/sh", "-c", `cd "$1"`, "localpg", dir).Run() == nil
}

// ensureDir makes dir for the user uid, or makes sure that it is that user's and gives nobody more than perm: in a
// directory for everyone somebody else may have been quicker.
func ensureDir(dir string, uid int, perm os.FileMode) (string, error) {
	err := os.Mkdir(dir, perm)
	if err == nil {
		err = errors.Join(os.Chmod(dir, perm), os.Lchown(dir, uid, -1))
	}
	if err != nil && !errors.Is(err, os.ErrExist) {
		return "", err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return "", err
	}
	if !info.IsDir() || ownerOf(info) != uid || info.Mode().Perm()&^perm != 0 {
		return "", fmt.Errorf("%s is no directory of user %d alone", dir, uid)
	}
	return dir, nil
}
