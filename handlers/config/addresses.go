package config

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

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
	if strings.Contains(v, "@") {
		r.fail(name, "must have no user and no password")
		return &url.URL{}
	}
	u, err := url.Parse(v)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.RawQuery != "" || u.Fragment != "" {
		r.fail(name, "must be like https://host or https://host/path, not %q", v)
		return &url.URL{}
	}
	if port := u.Port(); port != "" && (!validPort(port) || port == "0") {
		r.fail(name, "must have a port from 1 to 65535, not %s", port)
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

func (r *Reader) listenAddr(name, portName, fallback string) string {
	port, alone := r.value(portName, "")
	v, set := r.value(name, fallback)
	if alone && !set {
		if !validPort(port) {
			r.fail(portName, "must be a port from 0 to 65535, not %q", port)
		}
		return ":" + port
	}
	if !listenable(v) {
		r.fail(name, "must be like :8080 or 127.0.0.1:8080, not %q", v)
	}
	return v
}

// metricsAddr is empty where there are none.
func (r *Reader) metricsAddr(name string) string {
	v, set := r.value(name, "")
	if set && !listenable(v) {
		r.fail(name, "must be like :9090 or 127.0.0.1:9090, not %q", v)
	}
	return v
}

func listenable(address string) bool {
	_, port, err := net.SplitHostPort(address)
	return err == nil && validPort(port)
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
