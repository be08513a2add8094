package localpg

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// maxSocketDir leaves room for the socket's own name in the 104 bytes that the shortest system allows.
const maxSocketDir = 103 - len("/.s.PGSQL."+port)

// newScratch makes the server's temporary directory, which only its user may enter.
func newScratch(a account) (string, error) {
	parent := os.TempDir()
	if len(parent) > maxSocketDir-len("/subproduct-pg-1234567890") || !reachable(context.Background(), a, parent) {
		parent = "/tmp"
	}
	dir, err := os.MkdirTemp(parent, "subproduct-pg-")
	if err != nil {
		return "", err
	}
	return dir, a.give(dir)
}

// dataHome is the directory that holds the data for dir: dir itself, or a stable place for it when the user that postgres
// runs as cannot get there.
func dataHome(ctx context.Context, a account, dir string) (string, error) {
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
	name := fmt.Sprintf("subproduct-pg-%x", sha256.Sum256([]byte(dir)))[:len("subproduct-pg-")+16]
	return ensureDir(filepath.Join(os.TempDir(), name), os.Geteuid(), 0o755)
}

// reachable asks the system, by going there: permissions alone do not tell all.
func reachable(ctx context.Context, a account, dir string) bool {
	return !a.lent || a.command(ctx, "/bin/sh", "-c", `cd "$1"`, "localpg", dir).Run() == nil
}

// ensureDir makes dir for the user uid, or makes sure that it is that user's and that nobody else can write there:
// in a directory for everyone somebody else may have been quicker.
func ensureDir(dir string, uid int, perm os.FileMode) (string, error) {
	switch err := os.Mkdir(dir, perm); {
	case err == nil:
		if err := os.Chmod(dir, perm); err != nil {
			return "", err
		}
		if uid != os.Geteuid() {
			if err := os.Lchown(dir, uid, -1); err != nil {
				return "", err
			}
		}
	case !errors.Is(err, os.ErrExist):
		return "", err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return "", err
	}
	if !info.IsDir() || ownerOf(info) != uid || info.Mode().Perm()&^perm != 0 {
		return "", fmt.Errorf("%s is not a directory of user %d alone", dir, uid)
	}
	return dir, nil
}
