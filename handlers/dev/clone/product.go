package clone

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/mod/modfile"
)

// product is what the template becomes.
func (o *origin) product(template tree, withoutSample bool) (product tree, err error) {
	if o.version, err = versionOf(template); err != nil {
		return nil, err
	}
	if o.module = modfile.ModulePath(template["go.mod"].content); o.ownModule == "" {
		o.ownModule = o.module
	}
	o.begin(template)
	product = tree{originFile: {[]byte(o.String()), 0o644}}
	for path, f := range template {
		if kindOf(path) != templateAlone {
			product[path] = file{o.derive(path, f.content), f.mode}
		}
	}
	if err := o.named(product); err != nil {
		return nil, err
	}
	if withoutSample {
		err = product.dropSample()
	}
	return product, err
}

// to is what makes one tree another.
func (t tree) to(other tree) changes {
	c := changes{}
	for path, f := range other {
		if had, ok := t[path]; !ok || string(had.content) != string(f.content) {
			c[path] = &f
		}
	}
	for path := range t {
		if _, ok := other[path]; !ok {
			c[path] = nil
		}
	}
	return c
}

// productFile has the product's name and slug.
const productFile = "handlers/product.go"

// named writes name and slug into product.go.
func (o *origin) named(product tree) error {
	f := product[productFile]
	for field, value := range map[string]string{"Name": o.name, "Slug": o.slug} {
		line := regexp.MustCompile(`(?m)^(\s*` + field + `:\s*)"[^"]*",`)
		if len(line.FindAll(f.content, -1)) != 1 {
			return fmt.Errorf("%s has no line, or several, like %s: \"…\",", productFile, field)
		}
		f.content = line.ReplaceAllFunc(f.content, func(found []byte) []byte {
			return append(line.FindSubmatch(found)[1], strconv.Quote(value)+","...)
		})
	}
	product[productFile] = f
	return nil
}

// dotEnv adds .env, with a secret of its own, unless dir has one. It is not for
// git, and not for others on this machine.
func (t tree) dotEnv(dir string) error {
	if _, err := os.Lstat(filepath.Join(dir, ".env")); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if !strings.Contains(string(t[".gitignore"].content), "\n/.env\n") {
		return errors.New(".gitignore has no line /.env: secrets would be committed")
	}
	content := strings.Replace(string(t[".env.example"].content), "\nWEBHOOK_SECRET=change-me\n", "\nWEBHOOK_SECRET="+rand.Text()+rand.Text()+"\n", 1)
	t[".env"] = file{[]byte(content), 0o600}
	return nil
}
