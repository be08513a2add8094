// Package localpg runs a private PostgreSQL for the dev command and for tests.
//
// The server listens on a unix socket only, in a directory of its own, so that nothing can collide with it. It belongs to
// the process that started it: when that process ends, in whatever way, so does the server.
//
// PostgreSQL's programs are taken from the directory that POSTGRES_BIN names, else from PATH, else from where the usual
// packages put them, else they are fetched once.
package localpg

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// ErrInUse says that another living process runs a server on the same data directory.
var ErrInUse = errors.New("the data directory is in use")

// Options say where a server keeps its data and how it is set up. The zero value is a temporary server.
type Options struct {
	// DataDir is where the data lives and stays. When empty it lives in a temporary directory that ends with the server.
	DataDir string
	// Fast is for tests: a crash of the machine loses the data. A crash of postgres alone loses nothing.
	Fast bool
	// Params are further settings of PostgreSQL. They win over ours, except for those that make the server's address.
	Params map[string]string
	// Logger hears about unusual things; nil for none.
	Logger *slog.Logger
}

// Server is a running PostgreSQL. Its methods may be called from several goroutines.
type Server struct {
	options  Options
	postgres installation
	base     string   // lock files, log and, in pgNN, the cluster
	scratch  string   // the socket, and in a temporary server all the rest too
	owner    *os.File // locked: base belongs to this process
	sweeper  *sweeper // of scratch
	stop     func() error

	changing sync.Mutex // held while postgres is started, and for the final stop
	stopped  bool       // guarded by changing
	mu       sync.Mutex // guards run
	run      *run
}

// Start starts a server that can be connected to when Start returns. ctx bounds the start alone, not the server's life;
// once the data is there, a start is given 30 seconds. ErrInUse is returned at once when another process runs a server on
// o.DataDir; a server whose process has died is waited for, and its data is taken over.
func Start(ctx context.Context, o Options) (*Server, error) {
	return start(ctx, o, systemFinder())
}

func start(ctx context.Context, o Options, f finder) (*Server, error) {
	s, err := newServer(ctx, o, f)
	if err != nil {
		return nil, fmt.Errorf("start postgres: %w", err)
	}
	if err := s.begin(ctx); err != nil {
		return nil, fmt.Errorf("start postgres: %w", errors.Join(err, s.Stop()))
	}
	return s, nil
}

func newServer(ctx context.Context, o Options, f finder) (*Server, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if err := supported(); err != nil {
		return nil, err
	}
	a, err := newAccount()
	if err != nil {
		return nil, err
	}
	pg, err := f.find(ctx, a, o.Logger)
	if err != nil {
		return nil, err
	}
	s := &Server{options: o, postgres: pg}
	s.stop = sync.OnceValue(s.end)
	return s, nil
}

// begin does the steps of a start in the order in which end undoes them.
func (s *Server) begin(ctx context.Context) (err error) {
	a := s.postgres.account
	if s.scratch, s.sweeper, err = newScratch(ctx, a); err != nil {
		return err
	}
	s.base = s.scratch
	if s.options.DataDir != "" {
		if s.base, err = dataHome(ctx, a, s.options.DataDir, s.options.Logger); err != nil {
			return err
		}
	}
	if s.owner, err = own(s.base); err != nil {
		return err
	}
	if err = truncate(s.logFile()); err != nil {
		return err
	}
	return s.Resume(ctx)
}

// URL is the address of a database of this server, for pgx and for psql.
func (s *Server) URL(database string) string {
	u := url.URL{Scheme: "postgres", User: url.User("postgres"), Path: "/" + database}
	query := url.Values{"host": {s.scratch}, "port": {port}, "sslmode": {"disable"}}.Encode()
	u.RawQuery = strings.ReplaceAll(query, "+", "%20") // neither pgx nor libpq takes a plus for a space
	return u.String()
}

// SocketDir is the directory of the server's socket. It stays the same over Halt and Resume, and ends with the server.
func (s *Server) SocketDir() string { return s.scratch }

// DataDir is where the data really is: an absolute path, and another place than Options.DataDir when postgres, which must
// not run as root, cannot reach that.
func (s *Server) DataDir() string { return s.base }

// cluster is the directory that postgres itself calls its data directory. A major version cannot read another's.
func (s *Server) cluster() string {
	return filepath.Join(s.base, fmt.Sprintf("pg%d", s.postgres.major))
}

func (s *Server) logFile() string { return filepath.Join(s.base, "postgres.log") }
