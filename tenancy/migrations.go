package tenancy

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/golang-migrate/migrate/v4"
	"github.com/golang-migrate/migrate/v4/source"
	"github.com/golang-migrate/migrate/v4/source/iofs"
)

// golang-migrate's default of 100 KB for each prefetched file would be a
// megabyte a tenant.
func init() { migrate.DefaultBufferSize = 4096 }

// migrations are the files of one folder, read once and shared by every run.
type migrations struct {
	source   source.Driver
	files    map[int64]migration // by version
	latest   int64               // 0: there are none
	versions string              // the version table, as an SQL name; empty: one in each tenant's schema
}

// migration is a file that leads up to a version.
type migration struct{ name, sql string }

// readMigrations reads the files of a folder; nil is an empty one.
func readMigrations(fsys fs.FS) (*migrations, error) {
	if fsys == nil {
		return &migrations{}, nil
	}
	driver, err := iofs.New(fsys, ".")
	if err != nil {
		return nil, err
	}
	m := &migrations{source: driver, files: map[int64]migration{}}
	entries, err := fs.ReadDir(fsys, ".")
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		if err := m.add(fsys, entry.Name()); err != nil {
			return nil, err
		}
	}
	_, _ = driver.First() // builds its index, which would be a data race later
	return m, nil
}

func (m *migrations) add(fsys fs.FS, name string) error {
	parsed, err := source.DefaultParse(name)
	if strings.HasSuffix(name, ".sql") && err != nil {
		return fmt.Errorf("%s: not named like 000001_name.up.sql", name)
	}
	if err != nil || parsed.Direction != source.Up {
		return nil
	}
	sql, err := fs.ReadFile(fsys, name)
	if err != nil {
		return err
	}
	version := int64(parsed.Version)
	m.files[version], m.latest = migration{name, string(sql)}, max(m.latest, version)
	return checkFile(m.files[version])
}

// after are the files above a version, in their order.
func (m *migrations) after(version int64) (files []migration) {
	for _, v := range slices.Sorted(maps.Keys(m.files)) {
		if v > version {
			files = append(files, m.files[v])
		}
	}
	return files
}

// errAhead says that a schema is at a version that this binary has no files
// for: an older binary after a rollback of the deployment.
var errAhead = errors.New("the schema is newer than this program")

// up brings the schema to the latest version inside d's transaction and leaves
// the version that it is at then in d. It writes no version row.
func (m *migrations) up(d *txDriver) error {
	if m.latest == 0 {
		return d.Lock()
	}
	d.ran = make(chan bool, 1)
	run, err := migrate.NewWithInstance("iofs", lockstep{m.source, d.ran}, "tx", d)
	if err != nil {
		return err
	}
	run.LockTimeout = noTimeout // the context decides
	d.ran <- true
	err = run.Up()
	if errors.Is(err, errAhead) || errors.Is(err, migrate.ErrNoChange) {
		return nil
	}
	return err
}

// lockstep hands golang-migrate the next file when the one before it has run.
// Left alone it reads ahead, and after a failure the goroutine that does so
// waits for ever to hand over the next file.
type lockstep struct {
	source.Driver
	ran <-chan bool // one value a file: whether it may go on
}

func (l lockstep) First() (uint, error) {
	if !<-l.ran {
		return 0, fs.ErrNotExist
	}
	return l.Driver.First()
}

func (l lockstep) Next(version uint) (uint, error) {
	if !<-l.ran {
		return 0, fs.ErrNotExist
	}
	return l.Driver.Next(version)
}
