package commands

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/mattn/go-isatty"

	"example.com/subproduct/tenancy"
)

const (
	barWidth     = 30
	barInterval  = 100 * time.Millisecond
	lineInterval = 3 * time.Second
)

// progress shows a long run on standard error: a bar on a terminal, a line now
// and then elsewhere.
type progress struct {
	out      io.Writer
	terminal bool
	began    time.Time
	shown    time.Time
	drawn    bool
}

func newProgress(quiet bool) *progress {
	p := &progress{out: os.Stderr, terminal: isatty.IsTerminal(os.Stderr.Fd()), began: time.Now(), shown: time.Now()}
	if quiet && !p.terminal {
		p.out = io.Discard
	}
	return p
}

func (p *progress) show(at tenancy.FleetProgress) {
	interval := lineInterval
	if p.terminal {
		interval = barInterval
	}
	if time.Since(p.shown) < interval {
		return
	}
	p.shown, p.drawn = time.Now(), true
	if p.terminal {
		fmt.Fprintf(p.out, "\r%s\x1b[K", p.bar(at))
		return
	}
	fmt.Fprintln(p.out, describe(at, time.Since(p.began)))
}

func (p *progress) bar(at tenancy.FleetProgress) string {
	full := 0
	if at.Behind > 0 {
		full = min(barWidth*(at.Migrated+at.Failed)/at.Behind, barWidth)
	}
	return "[" + strings.Repeat("█", full) + strings.Repeat("·", barWidth-full) + "] " + describe(at, time.Since(p.began))
}

// end leaves the terminal's line to what is printed next.
func (p *progress) end() {
	if p.terminal && p.drawn {
		fmt.Fprint(p.out, "\r\x1b[K")
	}
}

// describe says how far a run is, how fast, and how long it will take.
func describe(at tenancy.FleetProgress, took time.Duration) string {
	done := at.Migrated + at.Failed
	rate := float64(done) / max(took.Seconds(), 0.001)
	left := time.Duration(float64(max(at.Behind-done, 0)) / max(rate, 0.001) * float64(time.Second))
	text := fmt.Sprintf("%d of %d tenants, %.0f/s, %s left", done, at.Behind, rate, left.Round(time.Second))
	if at.Failed > 0 {
		text += fmt.Sprintf(", %d failed", at.Failed)
	}
	return text
}
