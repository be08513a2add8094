package tenancy

import (
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
)

// rows are the rows of one statement. When they are read or closed, rest reads
// what the server says after them, which may be that all of it failed.
type rows struct {
	found  pgx.Rows // nil: there are none, but err
	rest   func() error
	traced func()
	done   func(error) // not nil: gives the connection back
	err    error
	closed bool
}

var _ pgx.Rows = (*rows)(nil)

func failed(err error) *rows { return &rows{err: err, closed: true} }

func (r *rows) Close() {
	if r.closed {
		return
	}
	r.closed = true
	r.found.Close()
	r.err = r.found.Err()
	if r.rest != nil {
		r.err = errors.Join(r.err, r.rest())
	}
	r.err = unjoined(r.err)
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
	if !r.found.Next() {
		r.Close()
		return false
	}
	return true
}

func (r *rows) Scan(dest ...any) error {
	if r.found == nil {
		return r.err
	}
	return r.found.Scan(dest...)
}

func (r *rows) Err() error { return r.err }

func (r *rows) CommandTag() pgconn.CommandTag {
	if r.found == nil {
		return pgconn.CommandTag{}
	}
	return r.found.CommandTag()
}

func (r *rows) FieldDescriptions() []pgconn.FieldDescription {
	if r.found == nil {
		return nil
	}
	return r.found.FieldDescriptions()
}

func (r *rows) Values() ([]any, error) {
	if r.found == nil {
		return nil, r.err
	}
	return r.found.Values()
}

func (r *rows) RawValues() [][]byte {
	if r.found == nil {
		return nil
	}
	return r.found.RawValues()
}

func (r *rows) TypeMap() *pgtype.Map { return r.found.TypeMap() }

// Conn is nil: the connection is not the product's.
func (r *rows) Conn() *pgx.Conn { return nil }

// row is the first of rows, which it closes.
type row struct{ rows pgx.Rows }

// Scan returns pgx.ErrNoRows where there is none, and the commit's error.
func (r row) Scan(dest ...any) error {
	defer r.rows.Close()
	if !r.rows.Next() {
		if err := r.rows.Err(); err != nil {
			return err
		}
		return pgx.ErrNoRows
	}
	if err := r.rows.Scan(dest...); err != nil {
		return err
	}
	r.rows.Close()
	return r.rows.Err()
}
