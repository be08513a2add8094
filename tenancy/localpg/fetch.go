package localpg

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"

	embeddedpostgres "github.com/fergusstrange/embedded-postgres"
)

// fetchedVersion is the PostgreSQL that a machine gets which has none.
const fetchedVersion = embeddedpostgres.V16

// fetch downloads PostgreSQL's programs, or finds those of an earlier time, and returns their directory.
func (f finder) fetch(ctx context.Context, a account, log *slog.Logger) (string, error) {
	cache, err := f.programsDir(ctx, a)
	if err != nil {
		return "", err
	}
	programs := filepath.Join(cache, "postgresql-"+string(fetchedVersion))
	bin := filepath.Join(programs, "bin")
	if complete(bin) {
		return bin, nil
	}
	log.Info("PostgreSQL is fetched: this machine has none", "version", fetchedVersion, "from", f.repository)
	fetched := make(chan error, 1)
	go func() { fetched <- f.unpack(programs) }()
	select {
	case err := <-fetched:
		return bin, err
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// programsDir is a directory where nobody but us can write and where the account can read.
func (f finder) programsDir(ctx context.Context, a account) (string, error) {
	switch {
	case f.cache != "":
		return f.cache, nil
	case a.lent:
		return ensureDir(filepath.Join(tempDir(ctx, a), prefix+"programs-"+strconv.Itoa(os.Geteuid())), os.Geteuid(), 0o755)
	default:
		return cacheDir(ctx, a)
	}
}

// unpack puts the programs into a directory beside the one they are for and renames it when all are there.
func (f finder) unpack(programs string) error {
	workshop, err := os.MkdirTemp(filepath.Dir(programs), "new-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(workshop) }()
	unpacked := filepath.Join(workshop, "programs")
	if err := f.download(workshop, unpacked); err != nil {
		return err
	}
	if err := openToAll(unpacked); err != nil {
		return err
	}
	if err := os.Rename(unpacked, programs); err != nil && !complete(filepath.Join(programs, "bin")) {
		return err
	}
	return nil
}

// download has embeddedpostgres fetch, check and unpack the programs, and nothing more. It exports no function for that:
// its Start goes on to initdb and postgres, which neither root can run nor we want it to. Between the two it clears the
// data directory with os.RemoveAll, and that refuses any path that ends in a dot, whoever calls it.
func (f finder) download(workshop, unpacked string) error {
	config := embeddedpostgres.DefaultConfig().Version(fetchedVersion).BinaryRepositoryURL(f.repository).
		Port(0).Logger(io.Discard).CachePath(workshop).RuntimePath(filepath.Join(workshop, "runtime")).
		BinariesPath(unpacked).DataPath(workshop + "/nowhere/.")
	never := embeddedpostgres.NewDatabase(config)
	err := never.Start()
	if err == nil {
		return errors.Join(errors.New("embeddedpostgres started what it should only fetch"), never.Stop())
	}
	if complete(filepath.Join(unpacked, "bin")) {
		return nil
	}
	return err
}

// openToAll lets the account, another user perhaps, read what was unpacked under a strict umask.
func openToAll(dir string) error {
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.Type()&fs.ModeSymlink != 0 {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		owners := info.Mode().Perm() & 0o500
		return os.Chmod(path, info.Mode().Perm()|owners>>3|owners>>6)
	})
}
