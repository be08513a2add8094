package tenancy

import (
	"strings"
	"syscall"
)

// tcpUserTimeout is TCP_USER_TIMEOUT of linux/tcp.h, which syscall lacks.
const tcpUserTimeout = 18

// limitSilence has the kernel give a TCP connection up after silence. A Unix
// socket has no network that could swallow anything.
func limitSilence(network, _ string, conn syscall.RawConn) error {
	if !strings.HasPrefix(network, "tcp") {
		return nil
	}
	var err error
	controlled := conn.Control(func(fd uintptr) {
		err = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, tcpUserTimeout, int(silence.Milliseconds()))
	})
	if controlled != nil {
		return controlled
	}
	return err
}
