package server

import (
	"context"
	"errors"
	"log/slog"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"example.com/subproduct/tenancy"
)

// What fails every time neither spins nor fills the log; what has run for a while
// comes back at once.
func TestBackground_FailuresBackOffToAMinute(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		runs := 0
		a := &app{log: slog.New(slog.NewJSONHandler(&log, nil)), product: Product{Background: func(context.Context, *tenancy.DB) error {
			switch runs++; runs {
			case 9:
				time.Sleep(time.Hour)
			case 11:
				return nil
			}
			return errors.New("not yet")
		}}}
		a.background(t.Context())
		var pauses []string
		for _, m := range regexp.MustCompile(`"pause":"(\w+)"`).FindAllStringSubmatch(log.String(), -1) {
			pauses = append(pauses, m[1])
		}
		if got, want := strings.Join(pauses, " "), "1s 2s 4s 8s 16s 32s 1m0s 1m0s 1s 2s"; got != want {
			t.Errorf("the pauses are %s, want %s", got, want)
		}
	})
}
