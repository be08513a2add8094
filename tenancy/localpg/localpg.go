// Package localpg runs a private PostgreSQL for the dev command and for tests.
//
// The server listens on a unix socket only, in a directory of its own, so that
// nothing can collide with it. It ends with the process that started it, however
// that process ends.
//
// PostgreSQL's programs are taken from the directory that POSTGRES_BIN names,
// else from PATH, else from where the usual packages put them, else they are
// fetched once.
package localpg

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
)

// ErrInUse says that another living process runs a server on the same data
// directory.
var ErrInUse = errors.New("the data directory is in use")

// Options say where a server keeps its data and how it is set up. The zero value
// is a temporary server.
type Options struct {
	// DataDir is where the data is kept. When empty, the data ends with the server.
	DataDir string
	// TempDir is where a temporary server has its directory; empty: /tmp. Its
	// path is short, for that of a socket has at most 103 bytes.
	TempDir string
	// Fast is for tests: a crash of the machine loses data, a crash of postgres
	// alone does not.
	Fast bool
	// Params are further settings of PostgreSQL. They win over ours, except for
	// the address.
	Params map[string]string
	// Logger hears about unusual things; nil for none.
	Logger *slog.Logger
}

// Server is a running PostgreSQL. Its methods, except for URL, are called one at
// a time.
type Server struct {
	options  Options
	finder   finder
	account  account
	programs programs
	base     string   // the lock, the log and the cluster
	scratch  string   // the socket; a temporary server's base, too
	lock     *os.File // on base; every process of postgres inherits it
	watchdog *watchdog
}

// Start starts a server that can be connected to when Start returns. ctx bounds
// the start alone, not the server's life. Start returns ErrInUse when another
// process runs a server on o.DataDir. A postgres there whose parent process has
// died is shut down first.
func Start(ctx context.Context, o Options) (*Server, error) {
	return start(ctx, o, systemFinder())
}

func start(ctx context.Context, o Options, f finder) (*Server, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Server{options: o, finder: f}
	for _, step := range []func(context.Context) error{
		s.chooseAccount, s.findPrograms, s.makeBase, s.own, s.makeScratch, s.ensureCluster, s.Resume,
	} {
		if err := step(ctx); err != nil {
			return nil, fmt.Errorf("start postgres: %w", errors.Join(err, context.Cause(ctx), s.Stop()))
		}
	}
	return s, nil
}

// URL is the address of a database of this server, for pgx and for psql.
func (s *Server) URL(database string) string {
	query := url.Values{"host": {s.scratch}, "port": {port}, "sslmode": {"disable"}}
	u := url.URL{Scheme: "postgres", User: url.User("postgres"), Path: "/" + database, RawQuery: query.Encode()}
	return u.String()
}

// Stop shuts the server down, waits until its last process has gone and removes
// what was temporary. Open connections are closed. Calling it again does nothing.
func (s *Server) Stop() (err error) {
	if s.watchdog != nil {
		_ = s.control(context.Background(), "stop", "-m", "fast", "-t", "5") // the watchdog does the rest
		// Should the watchdog have been killed, postgres may still run, and keeps
		// the lock.
		if s.watchdog.release() == nil {
			err = unlock(s.lock)
		}
	}
	if s.lock != nil {
		err = errors.Join(err, s.lock.Close())
	}
	s.watchdog, s.lock = nil, nil
	return errors.Join(err, os.RemoveAll(s.scratch))
}
