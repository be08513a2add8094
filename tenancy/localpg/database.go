package localpg

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// CreateDatabase creates a database as a copy of template, to which nobody may be connected; an empty database when
// template is "".
func (s *Server) CreateDatabase(ctx context.Context, name, template string) error {
	if template == "" {
		template = "template0"
	}
	sql := "CREATE DATABASE " + pgx.Identifier{name}.Sanitize() + " TEMPLATE " + pgx.Identifier{template}.Sanitize()
	if s.options.Fast && s.postgres.major >= 15 {
		sql += " STRATEGY FILE_COPY" // the checkpoints that this needs cost next to nothing without fsync
	}
	return s.execute(ctx, "create database "+name, sql)
}

// DropDatabase drops a database, if it is there, and with it the connections to it.
func (s *Server) DropDatabase(ctx context.Context, name string) error {
	return s.execute(ctx, "drop database "+name, "DROP DATABASE IF EXISTS "+pgx.Identifier{name}.Sanitize()+" WITH (FORCE)")
}

func (s *Server) execute(ctx context.Context, what, sql string) error {
	conn, err := pgx.Connect(ctx, s.URL("postgres"))
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	_, err = conn.Exec(ctx, sql)
	if err := errors.Join(err, conn.Close(context.WithoutCancel(ctx))); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}
