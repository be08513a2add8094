package platform

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
)

func TestOutcome_HasAWordForEachEnd(t *testing.T) {
	t.Parallel()
	for want, err := range map[string]error{
		"ok": nil, "refused": statusError(http.StatusBadRequest), "unavailable": statusError(http.StatusBadGateway), "bad_answer": statusError(http.StatusFound),
		"timeout": transportError(context.DeadlineExceeded), "left": transportError(fmt.Errorf("post: %w", context.Canceled)),
	} {
		if got := outcome(err); got != want {
			t.Errorf("%v is %s, want %s", err, got, want)
		}
	}
	if got := outcome(errors.New("anything else")); got != "unavailable" {
		t.Errorf("anything else is %s", got)
	}
}
