package simulator

import (
	"fmt"
	"math"
	"time"
)

// The chart's drawing units.
const (
	chartBars   = 60
	chartHeight = 56
	barWidth    = 8 // with the gap
)

// chart is the recent health history as bars, the newest at the right.
type chart struct {
	Width, Height int
	Bars          []bar
	Latest        *Probe
	Healthy       int // of the bars
	Total         int
}

type bar struct {
	X, Y, Width, Height int
	Class, Title        string
}

// newChart draws the last probes. The height is logarithmic: both 2 ms and 5 s
// are to be seen.
func newChart(probes []Probe) chart {
	c := chart{Width: chartBars * barWidth, Height: chartHeight}
	if len(probes) > chartBars {
		probes = probes[len(probes)-chartBars:]
	}
	c.Total = len(probes)
	for i := range chartBars {
		b := bar{X: i * barWidth, Width: barWidth - 2, Height: 2, Class: "none"}
		if n := i - (chartBars - len(probes)); n >= 0 {
			b.show(probes[n])
			if probes[n].Healthy {
				c.Healthy++
			}
		}
		b.Y = chartHeight - b.Height
		c.Bars = append(c.Bars, b)
	}
	if len(probes) > 0 {
		c.Latest = &probes[len(probes)-1]
	}
	return c
}

func (b *bar) show(probe Probe) {
	b.Height, b.Class, b.Title = chartHeight, "bad", probe.Error
	if probe.Healthy {
		b.Height, b.Class, b.Title = barHeight(probe.Took), "ok", "healthy"
	}
	b.Title = fmt.Sprintf("%s: %s, %s", probe.At.Local().Format("15:04:05"), b.Title, took(probe.Took))
}

// barHeight is between a tenth and the whole, which is 5 seconds.
func barHeight(d time.Duration) int {
	share := math.Log1p(float64(d.Milliseconds())) / math.Log1p(float64(answerLimit.Milliseconds()))
	return int(chartHeight * min(1, 0.1+0.9*share))
}
