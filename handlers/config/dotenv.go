package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"

	"github.com/joho/godotenv"
)

// WithDotEnv adds the variables of a .env file to env, which wins. A file that
// is not there adds none. The error for one that cannot be parsed says the line
// and nothing of what stands there: it may be a secret.
func WithDotEnv(env Lookup, path string) (Lookup, error) {
	content, err := os.ReadFile(path) //nolint:gosec // the caller names it
	if errors.Is(err, fs.ErrNotExist) {
		return env, nil
	}
	if err != nil {
		return nil, err
	}
	file, err := godotenv.UnmarshalBytes(content)
	if err != nil {
		return nil, fmt.Errorf("%s:%d: not a line like NAME=value, or a quotation mark is missing", path, brokenLine(content))
	}
	return func(name string) (string, bool) {
		if v, ok := env(name); ok {
			return v, true
		}
		v, ok := file[name]
		return v, ok
	}, nil
}

// brokenLine is where the first statement begins that cannot be parsed: behind
// the longest beginning of the file that can.
func brokenLine(content []byte) int {
	lines := bytes.SplitAfter(content, []byte("\n"))
	for n := len(lines); n > 0; n-- {
		if _, err := godotenv.UnmarshalBytes(bytes.Join(lines[:n], nil)); err == nil {
			return n + 1
		}
	}
	return 1
}

// Logger returns a logger of the configured level and format.
func (c Config) Logger(w io.Writer) *slog.Logger {
	options := &slog.HandlerOptions{Level: c.LogLevel}
	if c.LogFormat == "text" {
		return slog.New(slog.NewTextHandler(w, options))
	}
	return slog.New(slog.NewJSONHandler(w, options))
}
