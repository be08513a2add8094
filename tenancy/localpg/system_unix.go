//go:build linux || darwin

package localpg

import (
	"errors"
	"os"
	"syscall"
)

// supported is nil where a private PostgreSQL can be run.
var supported error

func attributes(a account) *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setsid: true}
	if a.lent {
		attr.Credential = &syscall.Credential{Uid: a.uid, Gid: a.gid}
	}
	return attr
}

// tryLock returns an error when another open file has the lock.
func tryLock(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) }

// unlock also takes the lock from the processes that inherited it.
func unlock(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_UN) }

// alive tells whether there is a process with this id, whoever it belongs to.
func alive(pid int) bool { return pid > 0 && !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }
