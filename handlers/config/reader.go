package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
)

// Reader takes typed settings from the environment and collects what is wrong
// with them. A product declares its settings with it: each method takes the
// name and the default, and the Required ones the value that stands in for a
// missing setting in dev and in tests; empty: none does. A setting that is
// wrong is returned as zero, and named in the one error of Load.
type Reader struct {
	env   Lookup
	dev   bool // a required setting may be missing where it has a value for dev
	names []string
	files []string // those of NAME_FILE
	errs  []error
}

// NewReader reads settings of env.
func NewReader(env Lookup) *Reader { return &Reader{env: env} }

// Err names everything that was wrong, one line each; nil: nothing was.
func (r *Reader) Err() error { return errors.Join(r.errs...) }

// fail shows no more than the first line of a value: after a quotation mark that
// is missing in .env, other settings follow there.
func (r *Reader) fail(name, format string, args ...any) {
	for i, arg := range args {
		if text, ok := arg.(string); ok {
			args[i], _, _ = strings.Cut(text, "\n")
		}
	}
	r.errs = append(r.errs, fmt.Errorf("%s %s", name, fmt.Sprintf(format, args...)))
}

func (r *Reader) check(name string, err error) {
	if err != nil {
		r.fail(name, "%s", err)
	}
}

// value is the setting as text. An empty variable counts as one that is not
// set: that is how container platforms unset things.
func (r *Reader) value(name, fallback string) (value string, set bool) {
	if slices.Contains(r.names, name) {
		r.fail(name, "is declared twice")
	}
	r.names = append(r.names, name)
	if v, ok := r.env(name); ok && v != "" {
		r.check(name, placeholder(v))
		return v, true
	}
	return fallback, false
}

// required is the setting, or what it is in dev; without either it is an error.
func (r *Reader) required(name, forDev string) string {
	v, set := r.value(name, "")
	if set {
		return v
	}
	if !r.dev || forDev == "" {
		r.fail(name, "is not set")
	}
	return r.inDev(forDev)
}

func (r *Reader) inDev(value string) string {
	if r.dev {
		return value
	}
	return ""
}

// secret reads NAME, or the file that NAME_FILE names without its last line
// end. It is the one place that knows NAME_FILE.
func (r *Reader) secret(name string, required bool, forDev string) Secret {
	v, set := r.value(name, "")
	r.files = append(r.files, name+"_FILE")
	file, fromFile := r.env(name + "_FILE")
	switch {
	case fromFile && file != "" && set:
		r.fail(name, "and %s_FILE are both set: keep one", name)
	case fromFile && file != "":
		v = r.file(name+"_FILE", file)
	case !set && r.dev && forDev != "":
		v = forDev
	case !set && required:
		r.fail(name, "is not set (nor %s_FILE)", name)
	}
	return Secret{&v}
}

func (r *Reader) file(name, file string) string {
	content, err := readSecret(file)
	if failed := (*fs.PathError)(nil); errors.As(err, &failed) {
		err = failed.Err // without the name: it may be the secret itself, by mistake
	}
	if err != nil {
		r.fail(name, "names a file that cannot be read: %s", err)
	}
	v := strings.TrimRight(string(content), "\r\n")
	r.check(name, placeholder(v))
	switch {
	case err == nil && v == "":
		r.fail(name, "names an empty file")
	case len(content) > maxSecret:
		r.fail(name, "names a file of more than %d KiB, which is no secret", maxSecret>>10)
	case strings.Contains(v, "\x00"):
		r.fail(name, "names a file with zero bytes, which is no text")
	}
	return v
}

// maxSecret is far above any real key. A file has an end here, also /dev/zero.
const maxSecret = 64 << 10

// readSecret reads at most a byte more than maxSecret.
func readSecret(name string) ([]byte, error) {
	file, err := os.Open(name) //nolint:gosec // the operator names it
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, maxSecret+1))
}
