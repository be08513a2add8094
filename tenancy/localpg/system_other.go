//go:build !linux && !darwin

package localpg

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"
)

var supported = fmt.Errorf("a private PostgreSQL on %s: %w", runtime.GOOS, errors.ErrUnsupported)

func attributes(account) *syscall.SysProcAttr { return nil }

func tryLock(*os.File) error { return supported }

func unlock(*os.File) error { return supported }

func alive(int) bool { return false }
