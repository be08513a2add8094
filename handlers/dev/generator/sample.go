package generator

import (
	"strconv"
	"strings"
	"time"
)

// Sample is the field's value in the first, second or third thing of a test.
func (f Field) Sample(n int) string {
	sample := strings.ReplaceAll(f.kind().samples[n-1], "%s", strings.ToLower(f.Label))
	if f.isTime() {
		return daysLater(sample, f.Before)
	}
	return sample
}

func (f Field) isTime() bool { return f.Type == "date" || f.Type == "timestamp" }

// daysLater is a sample of a time so many days later: what a table checks of two
// times is mostly that the second is the later one.
func daysLater(sample string, days int) string {
	const day = `"` + time.DateOnly
	first, _ := time.Parse(day, sample[:len(day)])
	return first.AddDate(0, 0, days).Format(day) + sample[len(day):]
}

// Text is the same without quotes.
func (f Field) Text(n int) string { return strings.Trim(f.Sample(n), `"`) }

// Typed is the same as Go writes what a form sends.
func (f Field) Typed(n int) string {
	if f.Type == ref {
		return "fmt.Sprint(" + f.Local() + ")"
	}
	return strconv.Quote(f.Text(n))
}

// Wrong is a value that is refused, as JSON.
func (f Field) Wrong() string { return f.kind().wrong }
