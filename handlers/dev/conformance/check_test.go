package conformance

import (
	"errors"
	"testing"
)

func TestConformance_CheckStopsAtItsFirstFailure(t *testing.T) {
	t.Parallel()
	reached := false
	err := try(func() {
		during("outer", func() { skip("nothing to look at") })
		reached = true
	})
	if reached || !errors.As(err, &skipped{}) || err.Error() != "outer: nothing to look at" {
		t.Errorf("reached %v, %v", reached, err)
	}
	if err := try(func() {}); err != nil {
		t.Errorf("nothing failed, and yet: %v", err)
	}
}

func TestConformance_CheckJoinsWhatFailedAtTheSameTime(t *testing.T) {
	t.Parallel()
	err := try(func() {
		together(8, func(i int) {
			if i > 0 {
				fail("%d", i/2)
			}
		})
	})
	if err == nil || err.Error() != "0; 1; 2" {
		t.Errorf("%v, want three different texts", err)
	}
}

func TestConformance_CheckLetsOtherPanicsPass(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() != "a mistake" {
			t.Error("a mistake of the program was taken for a broken rule")
		}
	}()
	_ = try(func() { panic("a mistake") })
}
