package server

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"

	"example.com/subproduct/handlers/config"
	"example.com/subproduct/handlers/logs"
	"example.com/subproduct/handlers/web"
	"example.com/subproduct/tenancy"
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

// InContext has each line of h say the tenant and the request that its context is
// about, unless the line says so itself. It is for slog's default logger, which a
// product writes to: the template's own lines name what they are about.
func InContext(h slog.Handler) slog.Handler { return inContext{Handler: h} }

type inContext struct {
	slog.Handler
	given []string // keys that each line has
}

func (h inContext) Handle(ctx context.Context, line slog.Record) error {
	said := slices.Clone(h.given)
	line.Attrs(func(a slog.Attr) bool { said = append(said, a.Key); return true })
	line = line.Clone() // others may have it too
	tenant, _ := tenancy.TenantFrom(ctx)
	for _, a := range []slog.Attr{slog.String("tenant", tenant.Slug.String()), slog.String("request_id", web.RequestIDFrom(ctx))} {
		if a.Value.String() != "" && !slices.Contains(said, a.Key) {
			line.AddAttrs(a)
		}
	}
	return h.Handler.Handle(ctx, line)
}

func (h inContext) WithAttrs(attrs []slog.Attr) slog.Handler {
	given := slices.Clone(h.given)
	for _, a := range attrs {
		given = append(given, a.Key)
	}
	return inContext{h.Handler.WithAttrs(attrs), given}
}

func (h inContext) WithGroup(name string) slog.Handler {
	return inContext{h.Handler.WithGroup(name), h.given}
}
