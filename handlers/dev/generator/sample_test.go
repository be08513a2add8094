package generator_test

import (
	"regexp"
	"testing"

	"example.com/subproduct/handlers/dev/generator"
)

// Whoever writes CHECK (ends_at > starts_at) into the migration has a test that
// still adds its rows.
func TestSamples_OfSeveralTimesAscend(t *testing.T) {
	t.Parallel()
	r, err := generator.Parse("", []string{"bookings", "day:date", "title:string", "starts_at:timestamp", "ends_at:timestamp:optional", "paid:date"})
	if err != nil {
		t.Fatal(err)
	}
	for nth := 1; nth <= 3; nth++ {
		last := ""
		for _, f := range r.Fields {
			if f.Type == "string" {
				continue
			}
			if f.Text(nth)[:10] <= last {
				t.Errorf("%s is %s, behind %s", f.Column, f.Text(nth), last)
			}
			last = f.Text(nth)[:10]
		}
	}
}

// A row that is refused says so and why, before its id is read.
func TestExample_ItsTestLooksAtTheAnswerBeforeTheID(t *testing.T) {
	t.Parallel()
	unseen := regexp.MustCompile(`.*MethodPost.*\)\.JSON\(.*`)
	if line := unseen.FindString(read(t, "example", "handlers/orderlines_test.go")); line != "" {
		t.Errorf("no status is looked at:\n%s", line)
	}
}
