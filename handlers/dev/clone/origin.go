package clone

import (
	"bytes"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// originFile is where a product keeps its origin.
const originFile = ".template"

// origin is what a product began from, or what its last upgrade took over.
type origin struct {
	version    string // of the template
	module     string // the template's
	name, slug string // what init was told
	ownModule  string // the product's module; the template's where it was kept
	began      map[string]sums
}

// sums are the hashes of a file as the template has it, and as it began in the
// product.
type sums struct{ there, here string }

// sum is the hash that git gives a file.
func sum(content []byte) string {
	h := sha1.New()
	fmt.Fprintf(h, "blob %d\x00", len(content))
	h.Write(content)
	return hex.EncodeToString(h.Sum(nil))
}

// begin notes what each of the template's files is here.
func (o *origin) begin(template tree) {
	o.began = map[string]sums{}
	for path, f := range template {
		if k := kindOf(path); k == ofTemplate || k == merged {
			o.began[path] = sums{sum(f.content), sum(o.derive(path, f.content))}
		}
	}
}

const originHead = `# What this product began from. "upgrade" reads and writes this file: commit it, and leave it alone.
# Below: the hash of each file in the template, the hash of what it began as here, its path.
`

// String is the content of the file .template: lines that are sorted, so that
// it can be read as a diff.
func (o *origin) String() string {
	var b strings.Builder
	b.WriteString(originHead)
	for _, line := range [][2]string{{"version", o.version}, {"module", o.module}, {"own-module", o.ownModule}, {"name", o.name}, {"slug", o.slug}} {
		fmt.Fprintf(&b, "%s: %s\n", line[0], line[1])
	}
	for _, path := range slices.Sorted(maps.Keys(o.began)) {
		fmt.Fprintf(&b, "%s %s %s\n", o.began[path].there, o.began[path].here, path)
	}
	return b.String()
}

// errNoOrigin says that a folder is no product that init made.
var errNoOrigin = errors.New("there is no " + originFile + " here: it is written by `init`, and says what a product began from")

func readOrigin(dir string) (*origin, error) {
	content, err := os.ReadFile(filepath.Join(dir, originFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errNoOrigin
	}
	if err != nil {
		return nil, err
	}
	return parseOrigin(content)
}

func parseOrigin(content []byte) (*origin, error) {
	o := &origin{began: map[string]sums{}}
	fields := map[string]*string{"version": &o.version, "module": &o.module, "own-module": &o.ownModule, "name": &o.name, "slug": &o.slug}
	for line := range bytes.Lines(content) {
		text := strings.TrimSpace(string(line))
		key, value, found := strings.Cut(text, ": ")
		hashes := strings.SplitN(text, " ", 3)
		switch {
		case text == "" || text[0] == '#':
		case found && fields[key] != nil:
			*fields[key] = value
		case len(hashes) == 3 && len(hashes[0]) == 40:
			o.began[hashes[2]] = sums{hashes[0], hashes[1]}
		default:
			return nil, fmt.Errorf("%s cannot be read: %q", originFile, text)
		}
	}
	for key, value := range fields {
		if *value == "" {
			return nil, fmt.Errorf("%s has no %s", originFile, key)
		}
	}
	return o, nil
}
