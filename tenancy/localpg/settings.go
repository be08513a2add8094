package localpg

import (
	"maps"
	"slices"
)

// port is no more than a part of the socket's name here.
const port = "5432"

// settings are postgres's arguments. They are not written into the cluster, so that Fast on one start leaves the next alone.
func (s *Server) settings() []string {
	values := map[string]string{"log_timezone": "UTC", "timezone": "UTC", "max_connections": "100"}
	if s.options.Fast {
		// synchronous_commit stays on: it costs little without fsync, and Halt "immediate" must lose nothing.
		maps.Copy(values, map[string]string{"fsync": "off", "full_page_writes": "off", "shared_buffers": "32MB"})
	}
	maps.Copy(values, s.options.Params)
	maps.Copy(values, map[string]string{"listen_addresses": "", "port": port, "unix_socket_directories": s.scratch})
	var args []string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		args = append(args, "-c", name+"="+values[name])
	}
	return args
}
