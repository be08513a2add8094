package server

import (
	"fmt"
	"io"
	"log/slog"

	"example.com/subproduct/handlers/config"
	"example.com/subproduct/handlers/logs"
)

// bufferedLog is the log of the settings on a writer whose reader may stall: the
// server goes on. The buffer must be closed.
func bufferedLog(c config.Config, out io.Writer) (*slog.Logger, *logs.Buffer) {
	direct := c.Logger(out)
	buffer := logs.NewBuffer(out, logs.DefaultSize, func(dropped int64) {
		direct.Warn(fmt.Sprintf("%d log lines were dropped: whoever reads the log was too slow", dropped), "dropped", dropped)
	})
	return c.Logger(buffer), buffer
}
