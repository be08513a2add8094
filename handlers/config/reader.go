package config

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// required as a default says that there is none.
const required = "\x00required"

// reader takes typed settings from the environment and collects what is wrong
// with them. Every setting passes through value, so names knows them all.
type reader struct {
	env   Lookup
	names []string
	errs  []error
}

func (r *reader) fail(name, format string, args ...any) {
	r.errs = append(r.errs, fmt.Errorf("%s %s", name, fmt.Sprintf(format, args...)))
}

func (r *reader) check(name string, err error) {
	if err != nil {
		r.fail(name, "%s", err)
	}
}

// err names everything that is wrong, one line each.
func (r *reader) err() error { return errors.Join(r.errs...) }

// value is the setting as text. An empty variable counts as one that is not
// set: that is how container platforms unset things.
func (r *reader) value(name, fallback string) (value string, set bool) {
	r.names = append(r.names, name)
	if v, ok := r.env(name); ok && v != "" {
		r.check(name, placeholder(v))
		return v, true
	}
	if fallback == required {
		return "", false
	}
	return fallback, false
}

func (r *reader) text(name, fallback string) string {
	v, _ := r.value(name, fallback)
	if v == "" && fallback == required {
		r.fail(name, "is not set")
	}
	return v
}

// secret reads NAME, or the file that NAME_FILE names without its last line end.
func (r *reader) secret(name, fallback string) string {
	v, set := r.value(name, "")
	file, fromFile := r.env(name + "_FILE")
	switch {
	case fromFile && file != "" && set:
		r.fail(name, "and %s_FILE are both set: keep one", name)
	case fromFile && file != "":
		content, err := os.ReadFile(file) //nolint:gosec // the operator names it
		r.check(name+"_FILE", err)
		v = strings.TrimRight(string(content), "\r\n")
		r.check(name+"_FILE", placeholder(v))
		if err == nil && v == "" {
			r.fail(name+"_FILE", "names an empty file: %s", file)
		}
	case !set && fallback == required:
		r.fail(name, "is not set (nor %s_FILE)", name)
	}
	return v
}

func (r *reader) list(name, fallback string) []string {
	v, _ := r.value(name, fallback)
	parts := strings.Split(v, ",")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	return slices.DeleteFunc(parts, func(s string) bool { return s == "" })
}

func (r *reader) count(name string, fallback int) int { return r.number(name, fallback, 1) }

func (r *reader) number(name string, fallback, least int) int {
	v, _ := r.value(name, strconv.Itoa(fallback))
	n, err := strconv.Atoi(v)
	if err != nil || n < least || n > 10_000 {
		r.fail(name, "must be a whole number from %d to 10000, not %q", least, v)
	}
	return n
}

func (r *reader) boolean(name string, fallback bool) bool {
	v, _ := r.value(name, strconv.FormatBool(fallback))
	b, err := strconv.ParseBool(v)
	if err != nil {
		r.fail(name, "must be true or false, not %q", v)
	}
	return b
}

func (r *reader) duration(name string, fallback time.Duration) time.Duration {
	v, _ := r.value(name, fallback.String())
	d, err := time.ParseDuration(v)
	if err != nil || d <= 0 {
		r.fail(name, "must be a positive duration like 90s, 15m or 12h, not %q", v)
	}
	return d
}

func (r *reader) level(name string, fallback slog.Level) slog.Level {
	v, _ := r.value(name, fallback.String())
	var level slog.Level
	if level.UnmarshalText([]byte(v)) != nil {
		r.fail(name, "must be debug, info, warn or error, not %q", v)
	}
	return level
}

// choice takes one of choices; the first is the default.
func (r *reader) choice(name string, choices ...string) string {
	v, _ := r.value(name, choices[0])
	if !slices.Contains(choices, v) {
		r.fail(name, "must be %s, not %q", strings.Join(choices, " or "), v)
	}
	return v
}

// url reads an absolute http or https address that a path can be added to.
func (r *reader) url(name string) *url.URL {
	v, set := r.value(name, required)
	if !set {
		r.fail(name, "is not set")
		return &url.URL{}
	}
	return r.parseURL(name, v)
}

// optionalURL is nil where the setting is not there.
func (r *reader) optionalURL(name string) *url.URL {
	v, set := r.value(name, "")
	if !set {
		return nil
	}
	return r.parseURL(name, v)
}

func (r *reader) parseURL(name, v string) *url.URL {
	u, err := url.Parse(v)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		r.fail(name, "must be like https://host or https://host/path, not %q", v)
		return &url.URL{}
	}
	return u
}

// origin is a url without a path: the routes begin at the root.
func (r *reader) origin(name string) *url.URL {
	u := r.url(name)
	if u.Path != "" && u.Path != "/" {
		r.fail(name, "must have no path, not %q", u.Path)
	}
	return u
}

func (r *reader) listenAddr(name, portName, fallback string) string {
	port, _ := r.value(portName, "")
	if port != "" {
		fallback = ":" + port
	}
	v, _ := r.value(name, fallback)
	if _, p, err := net.SplitHostPort(v); err != nil || !validPort(p) {
		r.fail(name, "must be like :8080 or 127.0.0.1:8080, not %q", v)
	}
	return v
}

func validPort(s string) bool {
	n, err := strconv.Atoi(s)
	return err == nil && n >= 0 && n <= 65535
}

func (r *reader) prefixes(name string) []netip.Prefix {
	var prefixes []netip.Prefix
	for _, v := range r.list(name, "") {
		p, err := netip.ParsePrefix(v)
		if addr, addrErr := netip.ParseAddr(v); err != nil && addrErr == nil {
			p, err = netip.PrefixFrom(addr, addr.BitLen()), nil
		}
		if err != nil {
			r.fail(name, "must be CIDRs like 10.0.0.0/8, not %q", v)
			continue
		}
		prefixes = append(prefixes, p)
	}
	return prefixes
}

// validDatabaseURL says what is wrong without showing the password.
func validDatabaseURL(v string) error {
	if v == "" {
		return nil // said already
	}
	if !strings.HasPrefix(v, "postgres://") && !strings.HasPrefix(v, "postgresql://") {
		return errors.New("must begin with postgres://")
	}
	if _, err := pgx.ParseConfig(v); err != nil {
		return errors.New("is not a valid PostgreSQL URL (is a character of the password not percent-encoded?)")
	}
	return nil
}
