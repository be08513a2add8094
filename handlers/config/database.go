package config

import (
	"errors"
	"log/slog"
	"strings"

	"github.com/jackc/pgx/v5"
)

// LoadDatabase reads what a command on the database needs, and nothing else:
// DatabaseURL, the log's settings and the product's own.
func LoadDatabase(env Lookup, product ...func(*Reader)) (Config, error) {
	r := NewReader(env)
	c := Config{
		DatabaseURL: r.RequiredSecret("DATABASE_URL", ""),
		LogLevel:    r.level("LOG_LEVEL", slog.LevelInfo),
		LogFormat:   r.Choice("LOG_FORMAT", "json", "text"),
	}
	r.check("DATABASE_URL", validDatabaseURL(c.DatabaseURL.Reveal()))
	r.product(product)
	return c, r.Err()
}

// ListenAddr is LISTEN_ADDR alone, for a command that needs nothing else.
func ListenAddr(env Lookup) (string, error) {
	r := NewReader(env)
	addr := r.listenAddr("LISTEN_ADDR", "PORT", ":8080")
	return addr, r.Err()
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
