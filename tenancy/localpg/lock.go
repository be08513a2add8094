package localpg

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// errLocked says that another open file has the lock.
var errLocked = errors.New("locked")

// patience is for a process that is just being killed, and for children of ours between fork and exec.
const patience = 200 * time.Millisecond

// own takes the lock that says which living process a data directory belongs to. The system lets it go with the process.
func own(base string) (*os.File, error) {
	for began := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		f, err := lockFile(filepath.Join(base, "owner.lock"))
		if !errors.Is(err, errLocked) {
			return f, err
		}
		if time.Since(began) > patience {
			return nil, fmt.Errorf("%w: another process runs postgres on %s", ErrInUse, base)
		}
	}
}

// disown lets the lock go even while a child, forked but not yet executing its program, has a copy of the file.
func disown(f *os.File) error {
	if f == nil {
		return nil
	}
	return errors.Join(unlock(f), f.Close())
}

func lockFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := tryLock(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
