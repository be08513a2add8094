//go:build !production

package dev

import (
	"context"
	"fmt"
	"os"

	"github.com/jackc/pgx/v5"
)

// database is the name of the app's database.
const database = "app"

// makeDatabase makes the app's database unless it is there; with --reset it
// throws away what is kept first, the simulator's memory too. It returns an error
// where a migration has changed that ran before.
func (d *stack) makeDatabase(ctx context.Context) error {
	conn, err := pgx.Connect(ctx, d.postgres.URL("postgres"))
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	if d.options.reset {
		if _, err := conn.Exec(ctx, "DROP DATABASE IF EXISTS "+database+" WITH (FORCE)"); err != nil {
			return fmt.Errorf("reset: %w", err)
		}
		if err := os.RemoveAll(d.options.stateFile()); err != nil {
			return fmt.Errorf("reset: %w", err)
		}
	}
	var exists bool
	err = conn.QueryRow(ctx, `SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)`, database).Scan(&exists)
	if err == nil && !exists {
		_, err = conn.Exec(ctx, "CREATE DATABASE "+database)
	}
	if err != nil {
		return err
	}
	return d.checkMigrations(ctx)
}
