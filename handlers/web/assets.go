package web

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/labstack/echo/v4"
)

// Assets serves the files of static/ under names that carry a hash of their
// content, so that a browser may keep them for a year and never shows old ones.
type Assets struct {
	urls  map[string]string // app.css → /static/app.1f2e3d4c5b6a.css
	files map[string]asset  // by hashed name
}

type asset struct {
	name    string
	content []byte
}

// NewAssets reads and hashes every file of fsys.
func NewAssets(fsys fs.FS) (*Assets, error) {
	a := &Assets{urls: map[string]string{}, files: map[string]asset{}}
	err := fs.WalkDir(fsys, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		sum := sha256.Sum256(content)
		ext := path.Ext(name)
		hashed := strings.TrimSuffix(name, ext) + "." + hex.EncodeToString(sum[:6]) + ext
		a.urls[name], a.files[hashed] = "/static/"+hashed, asset{name, content}
		return nil
	})
	return a, err
}

// URL is the address of a file of static/; templates call it as asset.
func (a *Assets) URL(name string) (string, error) {
	url, ok := a.urls[name]
	if !ok {
		return "", fmt.Errorf("static/ has no file %s", name)
	}
	return url, nil
}

// Serve answers GET /static/*.
func (a *Assets) Serve(c echo.Context) error {
	file, ok := a.files[c.Param("*")]
	if !ok {
		return echo.ErrNotFound
	}
	c.Response().Header().Set(echo.HeaderCacheControl, "public, max-age=31536000, immutable")
	http.ServeContent(c.Response(), c.Request(), file.name, time.Time{}, bytes.NewReader(file.content))
	return nil
}
