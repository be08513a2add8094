package localpg

import (
	"cmp"
	"context"
	"errors"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
)

// account is the user that postgres runs as. It refuses to run as root, so that
// root lends its processes another user's credentials.
type account struct {
	uid, gid uint32
	lent     bool
}

func (s *Server) chooseAccount(context.Context) error {
	if os.Geteuid() != 0 {
		return supported
	}
	for _, name := range []string{"postgres", "nobody"} {
		if u, err := user.Lookup(name); err == nil {
			uid, uidErr := strconv.ParseInt(u.Uid, 10, 64) // on macOS, nobody has the number -2
			gid, gidErr := strconv.ParseInt(u.Gid, 10, 64)
			s.account = account{uint32(uid), uint32(gid), true}
			return errors.Join(uidErr, gidErr)
		}
	}
	return errors.New("postgres cannot run as root, and there is neither a user postgres nor nobody")
}

// command is a command that runs as this user, in a session of its own: Ctrl-C on
// the terminal does not reach it. PG* variables would change what postgres does,
// and it needs none of our secrets, so that its environment is short.
func (a account) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, name, args...)
	c.Dir = "/"
	c.SysProcAttr = attributes(a)
	c.Env = []string{"LC_ALL=C", "TZ=UTC", "PATH=" + os.Getenv("PATH") + ":/usr/bin:/bin"}
	for _, name := range []string{"LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "LOCALE_ARCHIVE"} {
		if value, set := os.LookupEnv(name); set {
			c.Env = append(c.Env, name+"="+value)
		}
	}
	return c
}

// give makes path this user's.
func (a account) give(path string) error {
	if !a.lent {
		return nil
	}
	return os.Lchown(path, int(a.uid), int(a.gid))
}

// tempPrefix does not follow TMPDIR, which may be closed to the account, and too
// long for a socket: its path has at most 103 bytes.
const tempPrefix = "/tmp/localpg-"

// tempDir makes a directory in root, or else in /tmp, that only this user may
// enter.
func (a account) tempDir(root string) (string, error) {
	tmp, name := filepath.Split(tempPrefix)
	dir, err := os.MkdirTemp(cmp.Or(root, tmp), name)
	if err != nil {
		return "", err
	}
	return dir, a.give(dir)
}

// home makes the directory for what all servers of this user share. Every user
// can read it.
func (a account) home() (string, error) {
	dir, err := os.UserCacheDir()
	if a.lent {
		dir, err = "/var/lib", nil
	}
	if err != nil {
		return "", err
	}
	dir = filepath.Join(dir, "localpg")
	return dir, errors.Join(os.MkdirAll(dir, 0o755), os.Chmod(dir, 0o755)) // whatever the umask
}
