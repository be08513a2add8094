//go:build linux || darwin

package localpg

import (
	"errors"
	"os"
	"syscall"
)

const (
	interrupt = syscall.SIGINT
	quit      = syscall.SIGQUIT
)

// supported is nil where a private PostgreSQL can be run.
func supported() error { return nil }

func attributes(a account) *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setsid: true}
	if a.lent {
		attr.Credential = &syscall.Credential{Uid: uint32(a.uid), Gid: uint32(a.gid)}
	}
	return attr
}

// tryLock returns errLocked when another open file has the lock.
func tryLock(f *os.File) error {
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.EWOULDBLOCK):
			return errLocked
		default:
			return err
		}
	}
}

func unlock(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_UN) }

// alive tells whether there is a process with this id, whoever it belongs to.
func alive(pid int) bool { return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }

func ownerOf(info os.FileInfo) int {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(stat.Uid)
	}
	return -1
}
