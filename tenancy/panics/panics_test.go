package panics_test

import (
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"

	"example.com/subproduct/tenancy/panics"
)

func TestAsError_HoweverAFunctionEnds(t *testing.T) {
	t.Parallel()
	for how, c := range map[string]struct {
		ends func() error
		want error
	}{
		"well":      {func() error { return nil }, nil},
		"in error":  {func() error { return io.EOF }, io.EOF},
		"by Goexit": {func() error { runtime.Goexit(); return nil }, panics.ErrGoexit},
	} {
		if err := panics.AsError(c.ends); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", how, err, c.want)
		}
	}
	err := panics.AsError(func() error { panic("boom") })
	if err == nil || !strings.HasPrefix(err.Error(), "panic: boom\n") || !strings.Contains(err.Error(), "panics_test.go") {
		t.Errorf("a panic: %v, want it with its stack", err)
	}
}
