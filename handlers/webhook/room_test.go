package webhook

import (
	"errors"
	"io"
	"strings"
	"sync/atomic"
	"testing"
)

// Where large bodies have used up the room, small ones are read all the same,
// and what a large one has taken is no more than it has sent.
func TestBody_SmallOnesFindRoomAlways(t *testing.T) {
	t.Parallel()
	for size, want := range map[int]error{0: nil, 1000: nil, 16 << 10: nil, 16<<10 + 1: errNoRoom, 1 << 20: errNoRoom} {
		var all atomic.Int64
		all.Store(maxBodies)
		b := &body{Reader: strings.NewReader(strings.Repeat("x", size)), all: &all, free: freeBody}
		if _, err := io.ReadAll(b); !errors.Is(err, want) {
			t.Errorf("%d bytes: %v, want %v", size, err, want)
		}
		if got := all.Load() - maxBodies; got != b.counted || got > int64(max(size-freeBody, 0)) {
			t.Errorf("%d bytes are counted as %d, %d", size, got, b.counted)
		}
	}
}
