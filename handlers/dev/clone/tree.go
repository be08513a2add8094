package clone

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// file is what a path has.
type file struct {
	content []byte
	mode    fs.FileMode
}

// tree is files by their paths, with slashes.
type tree map[string]file

// readTree reads the files of dir that git would commit, or all of them where
// dir is not a repository of its own.
func readTree(ctx context.Context, dir string) (tree, error) {
	paths, err := list(ctx, dir)
	if err != nil {
		return nil, err
	}
	return readFiles(dir, paths)
}

// readFiles reads those of the files that are there. A link is none.
func readFiles(dir string, paths []string) (tree, error) {
	t := tree{}
	for _, path := range paths {
		name := filepath.Join(dir, filepath.FromSlash(path))
		info, err := os.Lstat(name)
		if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
			continue
		}
		if err != nil {
			return nil, err
		}
		content, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		t[path] = file{content, info.Mode().Perm()}
	}
	return t, nil
}

func list(ctx context.Context, dir string) ([]string, error) {
	if hasGit(dir) {
		out, err := git(ctx, dir, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
		paths := strings.Split(string(out), "\x00")
		return slices.Compact(slices.Sorted(slices.Values(paths[:len(paths)-1]))), err
	}
	var paths []string
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains([]string{".git", ".dev"}, d.Name()):
			return fs.SkipDir
		case !d.IsDir():
			paths = append(paths, path)
		}
		return nil
	})
	return paths, err
}

// hasGit reports whether dir is the top of a git repository.
func hasGit(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, ".git"))
	return err == nil
}

// git runs git in dir. Its error has what git said.
func git(ctx context.Context, dir string, args ...string) ([]byte, error) {
	command := exec.CommandContext(ctx, "git", args...)
	var said bytes.Buffer
	command.Dir, command.Stderr = dir, &said
	out, err := command.Output()
	if err != nil {
		return out, fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(said.String()))
	}
	return out, nil
}

// checkClean refuses a repository with changes that are not committed: what a
// command here does must be seen, and undone, by itself.
func checkClean(ctx context.Context, dir string) error {
	if !hasGit(dir) {
		return nil
	}
	out, err := git(ctx, dir, "status", "--porcelain")
	if err == nil && len(out) > 0 {
		err = fmt.Errorf("commit or put away what is not committed first, so that git shows what this changes:\n%s", out)
	}
	return err
}
