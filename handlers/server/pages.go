package server

import (
	"embed"
	"errors"
	"io/fs"
	"slices"
	"strings"
)

//go:embed all:pages
var ownPages embed.FS

// pages are the product's templates over the template's own: a file of the
// product replaces one of the same name.
func pages(product fs.FS) (fs.FS, error) {
	own, err := fs.Sub(ownPages, "pages")
	if err != nil {
		return nil, err
	}
	return overlay{product, own}, nil
}

// overlay is several folders as one; the first that has a file wins.
type overlay []fs.FS

// Open implements fs.FS.
func (o overlay) Open(name string) (fs.File, error) {
	for _, layer := range o {
		if f, err := layer.Open(name); !errors.Is(err, fs.ErrNotExist) {
			return f, err
		}
	}
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

// ReadDir implements fs.ReadDirFS.
func (o overlay) ReadDir(name string) (entries []fs.DirEntry, err error) {
	for _, layer := range o {
		found, err := fs.ReadDir(layer, name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		entries = append(entries, found...)
	}
	slices.SortStableFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return slices.CompactFunc(entries, func(a, b fs.DirEntry) bool { return a.Name() == b.Name() }), nil
}

// orEmpty is an empty folder where a product has none.
func orEmpty(fsys fs.FS) fs.FS {
	if fsys == nil {
		return embed.FS{}
	}
	return fsys
}
