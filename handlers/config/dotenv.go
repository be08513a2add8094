package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"

	"github.com/joho/godotenv"
)

// WithDotEnv adds the variables of a .env file to env, which wins. A file that
// is not there adds none.
func WithDotEnv(env Lookup, path string) (Lookup, error) {
	file, err := godotenv.Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return env, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return func(name string) (string, bool) {
		if v, ok := env(name); ok {
			return v, true
		}
		v, ok := file[name]
		return v, ok
	}, nil
}

// Logger returns a logger of the configured level and format.
func (c Config) Logger(w io.Writer) *slog.Logger {
	options := &slog.HandlerOptions{Level: c.LogLevel}
	if c.LogFormat == "text" {
		return slog.New(slog.NewTextHandler(w, options))
	}
	return slog.New(slog.NewJSONHandler(w, options))
}
