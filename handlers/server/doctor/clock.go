package doctor

import (
	"fmt"
	"time"
)

const (
	// smallOffset is what an answer's way and a Date of whole seconds explain.
	smallOffset = 5 * time.Second
	// largeOffset is what the check of a token's time does not forgive.
	largeOffset = time.Minute
)

const setClocks = "have both clocks set by NTP: by them sessions and tokens end"

// clock judges by how much a clock is ahead of this machine's.
func clock(offset time.Duration, _ error) []Line {
	amount := offset.Abs().Round(100 * time.Millisecond)
	said := fmt.Sprintf("its clock is %s ahead of this machine's", amount)
	if offset < 0 {
		said = fmt.Sprintf("its clock is %s behind this machine's", amount)
	}
	switch {
	case offset.Abs() <= smallOffset:
		return ok("its clock and this machine's agree")
	case offset.Abs() <= largeOffset:
		return warning(said, setClocks)
	}
	return failure(said, setClocks)
}
