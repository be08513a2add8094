package generator_test

import (
	"testing"

	"example.com/subproduct/handlers/dev/generator"
)

// What is said to users has the word's true singular, also where it is the same.
func TestParse_Singulars(t *testing.T) {
	t.Parallel()
	for plural, want := range map[string]string{
		"invoices": "invoice", "companies": "company", "order_statuses": "order status", "analyses": "analysis", "houses": "house",
		"time_series": "time series", "series": "series", "boxes": "box", "movies": "movie", "diagnoses": "diagnosis", "buses": "bus",
	} {
		r, err := generator.Parse("", []string{plural, "name:string"})
		if err != nil || r.Label != want || r.One == r.Type {
			t.Errorf("%s: %q, %v, want %q", plural, r.Label, err, want)
		}
	}
}
