package generator_test

import (
	"regexp"
	"strings"
	"testing"
)

// A list that is wider than its window is reached and scrolled without a mouse,
// and says what it is.
func TestExample_AListIsScrolledByKeyboard(t *testing.T) {
	t.Parallel()
	list := regexp.MustCompile(`<div class="scroll"[^>]*>`).FindString(read(t, "example", "templates/orderlines.html"))
	for _, want := range []string{`tabindex="0"`, `role="region"`, `aria-label="Order lines"`} {
		if !strings.Contains(list, want) {
			t.Errorf("%s has no %s", list, want)
		}
	}
}
