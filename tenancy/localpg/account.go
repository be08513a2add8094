package localpg

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"strings"
)

// account is the user that postgres runs as. It refuses to run as root, so root lends its processes another user's rights.
type account struct {
	uid, gid int
	lent     bool
}

func newAccount() (account, error) {
	if os.Geteuid() != 0 {
		return account{uid: os.Geteuid(), gid: os.Getegid()}, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		if u, err := user.Lookup(name); err == nil {
			return accountOf(u)
		}
	}
	return account{}, errors.New("postgres cannot run as root, and there is neither a user postgres nor nobody")
}

// accountOf understands macOS too, where nobody has the number -2.
func accountOf(u *user.User) (account, error) {
	uid, uidErr := strconv.ParseInt(u.Uid, 10, 64)
	gid, gidErr := strconv.ParseInt(u.Gid, 10, 64)
	return account{uid: int(uint32(uid)), gid: int(uint32(gid)), lent: true}, errors.Join(uidErr, gidErr)
}

// command is a command that runs as this user, in a session of its own, so that Ctrl-C on the terminal does not reach it.
func (a account) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, name, args...)
	c.Dir = "/"
	c.Env = environment()
	c.SysProcAttr = attributes(a)
	return c
}

// give makes path this user's.
func (a account) give(path string) error {
	if !a.lent {
		return nil
	}
	return os.Lchown(path, a.uid, a.gid)
}

// mkdir makes a directory that is this user's alone.
func (a account) mkdir(dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	return a.give(dir)
}

// environment is short: PG* variables change what postgres does, and our secrets are none of its business.
func environment() []string {
	env := []string{"LC_ALL=C", "TZ=UTC", "PATH=" + strings.TrimPrefix(os.Getenv("PATH")+":/usr/bin:/bin", ":")}
	for _, name := range []string{"HOME", "TMPDIR", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "LOCALE_ARCHIVE"} {
		if value, set := os.LookupEnv(name); set {
			env = append(env, name+"="+value)
		}
	}
	return env
}
