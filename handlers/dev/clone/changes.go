package clone

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
)

// changes are files to write, by path; nil is a file to delete.
type changes map[string]*file

// apply makes all changes in dir. When one fails, what was done is undone.
func (c changes) apply(dir string) (err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	before := changes{}
	defer func() {
		if err != nil {
			err = errors.Join(err, before.write(root, changes{}))
		}
	}()
	return c.write(root, before)
}

// write makes the changes, and notes in before what was there.
func (c changes) write(root *os.Root, before changes) error {
	for _, name := range slices.Sorted(maps.Keys(c)) {
		old, err := read(root, name)
		if err != nil {
			return err
		}
		before[name] = old
		if err := put(root, name, c[name]); err != nil {
			return err
		}
	}
	return nil
}

// read is the file at a path; nil: there is none.
func read(root *os.Root, name string) (*file, error) {
	info, err := root.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	content, err := root.ReadFile(name)
	return &file{content, info.Mode().Perm()}, err
}

func put(root *os.Root, name string, f *file) error {
	if f == nil {
		if err := root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		for dir := path.Dir(name); dir != "." && root.Remove(dir) == nil; {
			dir = path.Dir(dir) // a folder is removed only when it is empty
		}
		return nil
	}
	if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return err
	}
	if err := root.WriteFile(name, f.content, f.mode); err != nil {
		return err
	}
	return root.Chmod(name, f.mode)
}
