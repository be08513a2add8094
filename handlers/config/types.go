package config

import (
	"fmt"
	"log/slog"
	"math"
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

// listOfSome is a List that means something only with an entry: a comma alone is
// neither that nor the default.
func (r *Reader) listOfSome(name, fallback string) []string {
	list := r.List(name, fallback)
	if len(list) == 0 {
		r.fail(name, "must have at least one entry")
	}
	return list
}

// paths reads where something may stand in a body.
func (r *Reader) paths(name, fallback string) []string {
	list := r.listOfSome(name, fallback)
	for _, path := range list {
		if slices.Contains(strings.Split(path, "."), "") {
			r.fail(name, "must be paths like slug or data.slug, not %q", path)
		}
	}
	return list
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
	return r.duration(name, fallback, 1)
}

func (r *Reader) duration(name string, fallback, least time.Duration) time.Duration {
	v, _ := r.value(name, fallback.String())
	d, err := time.ParseDuration(v)
	if err != nil || d < least {
		kind := map[bool]string{true: "positive duration", false: "duration, 0s or"}[least > 0]
		r.fail(name, "must be a %s like 90s, 15m or 12h, not %q", kind, v)
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

func (r *Reader) level(name string, fallback slog.Level) slog.Level {
	v, _ := r.value(name, fallback.String())
	var level slog.Level
	if level.UnmarshalText([]byte(v)) != nil {
		r.fail(name, "must be debug, info, warn or error, not %q", v)
	}
	return level
}
