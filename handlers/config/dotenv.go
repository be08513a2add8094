package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"os"

	"github.com/joho/godotenv"
)

// WithDotEnv adds the variables of a .env file to env, which wins. A file that
// is not there adds none. The error names the lines that cannot be parsed and
// nothing of what stands there: it may be a secret. The lookup is whole but for
// those, so that what else is wrong can be named beside them.
func WithDotEnv(env Lookup, path string) (Lookup, error) {
	content, err := os.ReadFile(path) //nolint:gosec // the caller names it
	if errors.Is(err, fs.ErrNotExist) {
		return env, nil
	}
	if err != nil {
		return env, err
	}
	file, broken := parseDotEnv(content)
	var wrong []error
	for _, line := range broken {
		wrong = append(wrong, fmt.Errorf("%s:%d: not a line like NAME=value, or a quotation mark is missing", path, line))
	}
	return func(name string) (string, bool) {
		if v, ok := env(name); ok {
			return v, true
		}
		v, ok := file[name]
		return v, ok
	}, errors.Join(wrong...)
}

// mostBroken is how many broken lines are named: with more, a file is no .env.
const mostBroken = 10

// parseDotEnv reads a file in pieces that can be parsed, each as long as can be.
// The lines between them are broken: there begins a statement that cannot.
func parseDotEnv(content []byte) (file map[string]string, broken []int) {
	file = map[string]string{}
	lines := bytes.SplitAfter(content, []byte("\n"))
	for at := 0; at < len(lines) && len(broken) < mostBroken; {
		n, piece := longestPiece(lines[at:])
		maps.Copy(file, piece)
		if at += n + 1; at <= len(lines) {
			broken = append(broken, at)
		}
	}
	return file, broken
}

// longestPiece is the longest beginning that can be parsed.
func longestPiece(lines [][]byte) (n int, piece map[string]string) {
	for n = len(lines); n > 0; n-- {
		if piece, err := godotenv.UnmarshalBytes(bytes.Join(lines[:n], nil)); err == nil {
			return n, piece
		}
	}
	return 0, nil
}

// Logger returns a logger of the configured level and format.
func (c Config) Logger(w io.Writer) *slog.Logger {
	options := &slog.HandlerOptions{Level: c.LogLevel}
	if c.LogFormat == "text" {
		return slog.New(slog.NewTextHandler(w, options))
	}
	return slog.New(slog.NewJSONHandler(w, options))
}
