package localpg

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"

	embeddedpostgres "github.com/fergusstrange/embedded-postgres"
)

// fetchedVersion is the PostgreSQL that a machine gets which has none.
const fetchedVersion = embeddedpostgres.V16

// fetch downloads PostgreSQL's programs, unless they are there from an earlier
// time, and returns their directory. It returns ctx's cause when ctx ends first.
func (s *Server) fetch(ctx context.Context) (string, error) {
	home, err := s.finder.cache, error(nil)
	if home == "" {
		home, err = s.account.home()
	}
	kept := filepath.Join(home, "postgresql-"+string(fetchedVersion))
	bin := filepath.Join(kept, "bin")
	if err != nil || complete(bin) {
		return bin, err
	}
	s.options.Logger.Info("PostgreSQL is fetched: this machine has none", "version", fetchedVersion, "from", s.finder.repository)
	workshop, err := os.MkdirTemp(home, "fetching-")
	if err != nil {
		return "", err
	}
	fetched := make(chan error, 1)
	go func() { fetched <- errors.Join(s.finder.unpack(workshop, kept), os.RemoveAll(workshop)) }()
	select {
	case err := <-fetched:
		return bin, err
	case <-ctx.Done():
		if unpacked(workshop) {
			<-fetched //nolint:errcheck // the library's server may be running: only its end counts
		}
		return "", context.Cause(ctx)
	}
}

// unpack has the library fetch, check and unpack the programs in workshop, and
// moves them to kept. The library has no function for that alone: its Start goes
// on to a server, which is thrown away. Where that server cannot run, as under
// root, the programs are there all the same.
func (f finder) unpack(workshop, kept string) error {
	port, err := freePort()
	if err != nil {
		return err
	}
	programs := filepath.Join(workshop, "programs")
	server := embeddedpostgres.NewDatabase(embeddedpostgres.DefaultConfig().Version(fetchedVersion).
		BinaryRepositoryURL(f.repository).CachePath(workshop).BinariesPath(programs).RuntimePath(filepath.Join(workshop, "runtime")).
		Port(port).StartParameters(map[string]string{"unix_socket_directories": ""}).Logger(io.Discard))
	if err = server.Start(); err == nil {
		err = server.Stop()
	} else if unpacked(workshop) {
		err = nil
	}
	if err == nil { // the account must be able to read them, whatever the umask
		err = exec.Command("chmod", "-R", "a+rX", programs).Run()
	}
	if err == nil {
		err = os.Rename(programs, kept)
	}
	if complete(filepath.Join(kept, "bin")) {
		return nil // also when another process was first
	}
	return err
}

// unpacked tells whether the programs are complete: the library makes its runtime
// directory next.
func unpacked(workshop string) bool {
	_, err := os.Stat(filepath.Join(workshop, "runtime"))
	return err == nil
}

func freePort() (uint32, error) {
	l, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return uint32(l.Addr().(*net.TCPAddr).Port), nil
}
