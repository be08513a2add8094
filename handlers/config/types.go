package config

import (
	"fmt"
	"log/slog"
	"math"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Text reads any text.
func (r *Reader) Text(name, fallback string) string {
	v, _ := r.value(name, fallback)
	return v
}

// RequiredText reads a text that must be there.
func (r *Reader) RequiredText(name, forDev string) string { return r.required(name, forDev) }

// Secret reads a secret that may be missing, from NAME or the file NAME_FILE.
func (r *Reader) Secret(name string) Secret { return r.secret(name, false, "") }

// RequiredSecret reads a secret that must be there, from NAME or the file
// NAME_FILE.
func (r *Reader) RequiredSecret(name, forDev string) Secret { return r.secret(name, true, forDev) }

// List reads texts with commas between them; fallback is written so too.
func (r *Reader) List(name, fallback string) []string {
	v, _ := r.value(name, fallback)
	parts := strings.Split(v, ",")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	return slices.DeleteFunc(parts, func(s string) bool { return s == "" })
}

// Int reads a whole number that is not negative.
func (r *Reader) Int(name string, fallback int) int { return r.between(name, fallback, 0, math.MaxInt) }

func (r *Reader) between(name string, fallback, least, most int) int {
	v, _ := r.value(name, strconv.Itoa(fallback))
	n, err := strconv.Atoi(v)
	if err != nil || n < least || n > most {
		r.fail(name, "must be a whole number %s, not %q", bounds(least, most), v)
	}
	return n
}

func bounds(least, most int) string {
	if most == math.MaxInt {
		return fmt.Sprintf("of at least %d", least)
	}
	return fmt.Sprintf("from %d to %d", least, most)
}

// Bool reads true or false.
func (r *Reader) Bool(name string, fallback bool) bool {
	v, _ := r.value(name, strconv.FormatBool(fallback))
	b, err := strconv.ParseBool(v)
	if err != nil {
		r.fail(name, "must be true or false, not %q", v)
	}
	return b
}

// Duration reads a positive duration like 90s, 15m or 12h.
func (r *Reader) Duration(name string, fallback time.Duration) time.Duration {
	v, _ := r.value(name, fallback.String())
	d, err := time.ParseDuration(v)
	if err != nil || d <= 0 {
		r.fail(name, "must be a positive duration like 90s, 15m or 12h, not %q", v)
	}
	return d
}

// Choice reads one of choices; the first is the default.
func (r *Reader) Choice(name string, choices ...string) string {
	v, _ := r.value(name, choices[0])
	if !slices.Contains(choices, v) {
		r.fail(name, "must be %s, not %q", strings.Join(choices, " or "), v)
	}
	return v
}

// URL reads an absolute http or https address that a path can be added to; nil
// where there is neither a value nor a default.
func (r *Reader) URL(name, fallback string) *url.URL {
	v, _ := r.value(name, fallback)
	if v == "" {
		return nil
	}
	return r.parseURL(name, v)
}

// RequiredURL reads an address as URL does, and is never nil.
func (r *Reader) RequiredURL(name, forDev string) *url.URL {
	v := r.required(name, forDev)
	if v == "" {
		return &url.URL{}
	}
	return r.parseURL(name, v)
}

func (r *Reader) parseURL(name, v string) *url.URL {
	u, err := url.Parse(v)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		r.fail(name, "must be like https://host or https://host/path, not %q", v)
		return &url.URL{}
	}
	return u
}

// origin is an address without a path: the routes begin at the root.
func (r *Reader) origin(name string) *url.URL {
	u := r.RequiredURL(name, "")
	if u.Path != "" && u.Path != "/" {
		r.fail(name, "must have no path, not %q", u.Path)
	}
	return u
}

func (r *Reader) level(name string, fallback slog.Level) slog.Level {
	v, _ := r.value(name, fallback.String())
	var level slog.Level
	if level.UnmarshalText([]byte(v)) != nil {
		r.fail(name, "must be debug, info, warn or error, not %q", v)
	}
	return level
}

func (r *Reader) listenAddr(name, portName, fallback string) string {
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

func (r *Reader) prefixes(name string) []netip.Prefix {
	var prefixes []netip.Prefix
	for _, v := range r.List(name, "") {
		p, err := prefix(v)
		if err != nil {
			r.fail(name, "must be CIDRs like 10.0.0.0/8, not %q", v)
			continue
		}
		prefixes = append(prefixes, p)
	}
	return prefixes
}

// prefix reads a CIDR, or an address, which is one of its whole length.
func prefix(v string) (netip.Prefix, error) {
	if p, err := netip.ParsePrefix(v); err == nil {
		return p, nil
	}
	addr, err := netip.ParseAddr(v)
	if err != nil {
		return netip.Prefix{}, fmt.Errorf("no CIDR: %w", err)
	}
	return netip.PrefixFrom(addr, addr.BitLen()), nil
}
