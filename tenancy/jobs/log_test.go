package jobs_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"

	"example.com/subproduct/tenancy/jobs"
	"example.com/subproduct/tenancy/localpg/pgtest"
)

// lines are the first lines of a log.
type lines chan string

func (l lines) Write(line []byte) (int, error) {
	select {
	case l <- string(line):
	default:
	}
	return len(line), nil
}

// What River says of an error has the key that all other lines have.
func TestLog_AnErrorOfRiversIsCalledAnError(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	log := make(lines, 100)
	o.start(t, jobs.Options{Logger: slog.New(slog.NewTextHandler(log, nil))},
		jobs.Handle(func(context.Context, sweep) error { return nil }))
	pgtest.Exec(t, o.url, `ALTER TABLE public.river_job RENAME TO elsewhere`)
	var line string
	await(t, "River says that its table is gone", func() bool {
		select {
		case line = <-log:
		default:
		}
		return strings.Contains(line, "42P01")
	})
	if !strings.Contains(line, ` error="`) || strings.Contains(line, " err=") {
		t.Error(line)
	}
}
