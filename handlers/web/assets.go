package web

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"
)

// Assets serves the files of static/ under names that carry a hash of their
// content, so that a browser may keep them for a year and never shows old ones.
// They are compressed once, at start.
type Assets struct {
	fsys fs.FS
	live bool
	read assets
}

// assets are the files of a folder at one moment.
type assets struct {
	urls  map[string]string // app.css → /static/app.1f2e3d4c5b6a.css
	files map[string]asset  // by hashed name
}

type asset struct {
	content, gzip     []byte // gzip: nil where it is not worth it
	contentType, etag string
}

// NewAssets reads and hashes every file of fsys, but for source code and
// READMEs. With live, the files are read anew each time: for development.
func NewAssets(fsys fs.FS, live bool) (*Assets, error) {
	read, err := readAssets(fsys)
	if !live {
		for hashed, file := range read.files {
			file.gzip = compress(file.content)
			read.files[hashed] = file
		}
	}
	return &Assets{fsys: fsys, live: live, read: read}, err
}

func readAssets(fsys fs.FS) (assets, error) {
	a := assets{urls: map[string]string{}, files: map[string]asset{}}
	err := fs.WalkDir(fsys, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || slices.Contains([]string{".go", ".md"}, path.Ext(name)) {
			return err
		}
		content, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		sum := sha256.Sum256(content)
		hash, ext := hex.EncodeToString(sum[:6]), path.Ext(name)
		hashed := strings.TrimSuffix(name, ext) + "." + hash + ext
		a.urls[name] = "/static/" + hashed
		a.files[hashed] = asset{content: content, contentType: contentType(ext, content), etag: hash}
		return nil
	})
	return a, err
}

// contentType is said here, for http.ServeContent would look at compressed bytes.
func contentType(ext string, content []byte) string {
	if known := mime.TypeByExtension(ext); known != "" {
		return known
	}
	return http.DetectContentType(content)
}

func (a *Assets) now() (assets, error) {
	if a.live {
		return readAssets(a.fsys)
	}
	return a.read, nil
}

// URL is the address of a file of static/; templates call it as asset.
func (a *Assets) URL(name string) (string, error) {
	found, err := a.now()
	if err != nil {
		return "", err
	}
	url, ok := found.urls[name]
	if !ok {
		return "", fmt.Errorf("static/ has no file %s", name)
	}
	return url, nil
}

// Serve answers GET /static/*.
func (a *Assets) Serve(c echo.Context) error {
	found, err := a.now()
	if err != nil {
		return err
	}
	file, ok := found.files[c.Param("*")]
	if !ok {
		return echo.ErrNotFound
	}
	header, content, etag := c.Response().Header(), file.content, file.etag
	header.Set(echo.HeaderCacheControl, "public, max-age=31536000, immutable")
	header.Set(echo.HeaderContentType, file.contentType)
	if file.gzip != nil {
		header.Add(echo.HeaderVary, echo.HeaderAcceptEncoding)
		if wantsGzip(c.Request()) {
			content, etag = file.gzip, etag+"-gzip"
			header.Set(echo.HeaderContentEncoding, "gzip")
			// http.ServeContent leaves it out where there is an encoding.
			header.Set(echo.HeaderContentLength, strconv.Itoa(len(content)))
		}
	}
	header.Set("ETag", `"`+etag+`"`)
	http.ServeContent(c.Response(), c.Request(), "", time.Time{}, bytes.NewReader(content))
	return nil
}
