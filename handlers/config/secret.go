package config

import (
	"fmt"
	"io"
	"log/slog"
)

// Secret is a value that must not be shown. It prints as *** by every verb, in
// logs and in JSON; the pointer keeps it out of sight even where fmt walks
// through unexported fields and cannot call a method. The zero Secret is empty.
type Secret struct{ value *string }

// Reveal returns the value.
func (s Secret) Reveal() string {
	if s.value == nil {
		return ""
	}
	return *s.value
}

const redacted = "***"

// Format implements fmt.Formatter.
func (Secret) Format(w fmt.State, _ rune) { _, _ = io.WriteString(w, redacted) }

// LogValue implements slog.LogValuer.
func (Secret) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalText implements encoding.TextMarshaler.
func (Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }
