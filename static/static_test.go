package static_test

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"regexp"
	"strconv"
	"testing"
)

// TestColours_CanBeRead holds the colours at the top of app.css against WCAG 2.2
// AA, by day and by night: 4.5 for text, 3 for the edge of a field and for the
// focus ring. A style sheet that has other colours is not judged.
func TestColours_CanBeRead(t *testing.T) {
	t.Parallel()
	css, err := os.ReadFile("app.css")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	colours := map[string][]string{}
	for _, m := range regexp.MustCompile(`--([a-z-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)`).FindAllStringSubmatch(string(css), -1) {
		colours[m[1]] = m[2:]
	}
	if len(colours) == 0 {
		t.Skip("app.css does not declare its colours as --name: light-dark(…)")
	}
	for _, pair := range []struct {
		front string
		backs []string
		least float64
	}{
		{"ink", []string{"page", "surface", "sunken", "accent-soft"}, 4.5},
		{"muted", []string{"page", "surface", "sunken"}, 4.5},
		{"accent", []string{"page", "surface", "accent-soft"}, 4.5},
		{"accent-strong", []string{"page", "surface", "accent-soft"}, 4.5},
		{"on-accent", []string{"accent", "accent-strong"}, 4.5},
		{"ok", []string{"ok-soft", "surface"}, 4.5},
		{"warn", []string{"warn-soft", "surface"}, 4.5},
		{"bad", []string{"bad-soft", "page", "surface", "sunken"}, 4.5},
		{"surface", []string{"bad"}, 4.5},
		{"edge", []string{"page", "surface"}, 3},
	} {
		for _, back := range pair.backs {
			if colours[pair.front] == nil || colours[back] == nil {
				t.Fatalf("--%s or --%s is not a light-dark() pair of #rrggbb", pair.front, back)
			}
			for i, scheme := range []string{"day", "night"} {
				got := contrast(t, colours[pair.front][i], colours[back][i])
				t.Logf("%5.2f  --%s on --%s by %s", got, pair.front, back, scheme)
				if got < pair.least {
					t.Errorf("--%s on --%s by %s: contrast %.2f, want at least %.1f", pair.front, back, scheme, got, pair.least)
				}
			}
		}
	}
}

// contrast is WCAG's contrast ratio of two colours, 1 to 21.
func contrast(t *testing.T, a, b string) float64 {
	t.Helper()
	la, lb := luminance(t, a), luminance(t, b)
	return (math.Max(la, lb) + 0.05) / (math.Min(la, lb) + 0.05)
}

func luminance(t *testing.T, colour string) float64 {
	t.Helper()
	n, err := strconv.ParseUint(colour[1:], 16, 24)
	if err != nil {
		t.Fatal(err)
	}
	linear := func(shift int) float64 {
		c := float64(n>>shift&0xff) / 255
		if c <= 0.04045 {
			return c / 12.92
		}
		return math.Pow((c+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(16) + 0.7152*linear(8) + 0.0722*linear(0)
}
