package server

import (
	"cmp"
	"os"
	"os/user"
	"strconv"
)

// operator is who runs a command, as the audit log names them: user@host. A
// container may know its user by number alone.
func operator() string {
	name := "uid-" + strconv.Itoa(os.Getuid())
	if known, err := user.Current(); err == nil {
		name = cmp.Or(known.Username, name)
	}
	host, _ := os.Hostname()
	return name + "@" + cmp.Or(host, "unknown")
}
