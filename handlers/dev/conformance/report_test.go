package conformance_test

import (
	"errors"
	"strings"
	"testing"

	"example.com/subproduct/handlers/dev/conformance"
)

// The table names every rule, and says below it what a broken one asks for.
func TestConformance_TableForPeople(t *testing.T) {
	t.Parallel()
	l, platform := listen(t)
	url := startPython(t, platform)
	var out strings.Builder
	err := conformance.RunOn(t.Context(), []string{
		"--target", url, "--webhook-path", "/hooks", "--health-path", "/sick", "--callback-path", "/callback", "--session-path", "/me", "--write-path", "",
	}, environment, l, &out)
	if !errors.Is(err, conformance.ErrBroken) || !strings.Contains(err.Error(), "1 of") {
		t.Errorf("%v", err)
	}
	for id := range conformance.Needs() {
		if !strings.Contains(out.String(), "\n"+id+" ") {
			t.Errorf("no row of %s", id)
		}
	}
	for _, want := range []string{"RULE", "1 FAIL", "health (contract, 3, 4.2, 8): The health URL answers", "seen: 404"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}
