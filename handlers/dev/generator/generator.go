// Package generator is the command `add`: it makes a business resource of the
// product's, as if it were written by hand: a migration, data functions, pages, a
// JSON API, their test, and the lines that lead to them. The sources are in
// source/; example/ is what they make of every type, compiled and tested.
package generator

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/mod/modfile"

	"example.com/subproduct/tenancy/commands/flags"
)

// Target is the product that gets a resource.
type Target struct {
	Root    string // its folder
	Module  string // the module's path; empty: go.mod in Root says it
	Product string // the import path of handlers; empty: Module and /handlers
}

// Add makes the resource of the arguments, as Parse reads them, and prints what
// it has done. On an error nothing was written. It is flags.ErrUsage where the
// call was wrong or is not possible in this product, and says what to do.
func Add(t Target, singular string, args []string, out io.Writer) error {
	r, err := Parse(singular, args)
	if err != nil {
		return flags.Usage(err)
	}
	if err := t.complete(); err != nil {
		return err
	}
	p, err := readProduct(t.Root)
	if err != nil {
		return err
	}
	if err := p.free(r); err != nil {
		return err
	}
	if err := p.refer(r); err != nil {
		return err
	}
	made, err := r.Files(t, p.nextMigration())
	if err != nil {
		return err
	}
	changed, notes, err := p.edits(r)
	if err != nil {
		return err
	}
	if err := write(t.Root, made, changed); err != nil {
		return err
	}
	report(out, made, changed, notes)
	return nil
}

func (t *Target) complete() error {
	if t.Module == "" {
		content, err := os.ReadFile(filepath.Join(t.Root, "go.mod"))
		if errors.Is(err, fs.ErrNotExist) {
			return refuse("there is no go.mod here: call it in the product's folder")
		}
		if t.Module = modfile.ModulePath(content); t.Module == "" {
			return errors.Join(errors.New("go.mod names no module"), err)
		}
	}
	if t.Product == "" {
		t.Product = t.Module + "/handlers"
	}
	return nil
}

// write writes all files or none: made are new ones.
func write(root string, made, changed map[string]string) (err error) {
	var undo []func() error
	defer func() {
		if err != nil {
			for _, u := range undo {
				err = errors.Join(err, u())
			}
		}
	}()
	for _, path := range slices.Sorted(maps.Keys(made)) {
		full := filepath.Join(root, filepath.FromSlash(path))
		if _, err := os.Lstat(full); err == nil {
			return refuse("there is a %s already", path)
		}
		undo = append(undo, func() error { return os.RemoveAll(full) })
		if err := os.WriteFile(full, []byte(made[path]), 0o644); err != nil {
			return err
		}
	}
	for _, path := range slices.Sorted(maps.Keys(changed)) {
		full := filepath.Join(root, filepath.FromSlash(path))
		before, err := os.ReadFile(full)
		if err != nil {
			return err
		}
		undo = append(undo, func() error { return os.WriteFile(full, before, 0o644) })
		if err := os.WriteFile(full, []byte(changed[path]), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func report(out io.Writer, made, changed map[string]string, notes []string) {
	for _, path := range slices.Sorted(maps.Keys(made)) {
		fmt.Fprintln(out, "made   ", path)
	}
	for _, path := range slices.Sorted(maps.Keys(changed)) {
		fmt.Fprintln(out, "changed", path)
	}
	for _, note := range notes {
		fmt.Fprintln(out, "note:  ", note)
	}
	fmt.Fprintln(out, "\nIt is yours now: read it, change it. `go test ./handlers` tries it, `go run . dev` shows it.")
}
