package tenancy

import (
	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
)

// River returns the driver of riverqueue/river on the connections of s, for the
// package jobs alone.
func (s *System) River() riverdriver.Driver[pgx.Tx] { return riverpgxv5.New(s.pool) }
