package config

import "log/slog"

// LoadDatabase reads what a command on the database needs, and nothing else:
// DatabaseURL and the log's settings.
func LoadDatabase(env Lookup) (Config, error) {
	r := &reader{env: env}
	c := Config{
		DatabaseURL: newSecret(r.secret("DATABASE_URL", required)),
		LogLevel:    r.level("LOG_LEVEL", slog.LevelInfo),
		LogFormat:   r.choice("LOG_FORMAT", "json", "text"),
	}
	r.check("DATABASE_URL", validDatabaseURL(c.DatabaseURL.Reveal()))
	return c, r.err()
}
