package tenancy

import (
	"cmp"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
)

// rows are the rows of one statement. When they are read or closed, rest reads
// what the server says after them, which may be that all of it failed.
type rows struct {
	pgx.Rows
	rest   func() error
	traced func()
	done   func(error) // not nil: gives the connection back
	err    error
	closed bool
}

func (r *rows) Close() {
	if r.closed {
		return
	}
	r.closed = true
	r.Rows.Close()
	r.err = unjoined(errors.Join(r.Rows.Err(), r.rest()))
	if r.traced != nil {
		r.traced()
	}
	if r.done != nil {
		r.done(r.err)
	}
}

// unjoined keeps an error that came alone as it came.
func unjoined(err error) error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok && len(joined.Unwrap()) == 1 {
		return joined.Unwrap()[0]
	}
	return err
}

func (r *rows) Next() bool {
	if r.closed {
		return false
	}
	if !r.Rows.Next() {
		r.Close()
		return false
	}
	return true
}

func (r *rows) Err() error { return r.err }

// Conn is nil: the connection is not the product's.
func (r *rows) Conn() *pgx.Conn { return nil }

// failed are the rows of a statement that had no effect.
type failed struct{ err error }

func (f failed) Close()                                       {}
func (f failed) Err() error                                   { return f.err }
func (f failed) CommandTag() pgconn.CommandTag                { return pgconn.CommandTag{} }
func (f failed) FieldDescriptions() []pgconn.FieldDescription { return nil }
func (f failed) Next() bool                                   { return false }
func (f failed) Scan(...any) error                            { return f.err }
func (f failed) Values() ([]any, error)                       { return nil, f.err }
func (f failed) RawValues() [][]byte                          { return nil }
func (f failed) Conn() *pgx.Conn                              { return nil }
func (f failed) TypeMap() *pgtype.Map                         { return nil }

// row is the first of rows, which it closes.
type row struct{ rows pgx.Rows }

// Scan returns pgx.ErrNoRows where there is none, and the commit's error.
func (r row) Scan(dest ...any) error {
	defer r.rows.Close()
	if !r.rows.Next() {
		return cmp.Or(r.rows.Err(), pgx.ErrNoRows)
	}
	if err := r.rows.Scan(dest...); err != nil {
		return err
	}
	r.rows.Close()
	return r.rows.Err()
}
