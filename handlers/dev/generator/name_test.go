package generator_test

import (
	"strings"
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

// A singular that cannot be is not laid on the plural.
func TestParse_NamesTheSingularThatIsReserved(t *testing.T) {
	t.Parallel()
	_, err := generator.Parse("x", []string{"things", "name:string"})
	if want := "the singular x of things is reserved"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
}

// A thing is known by its first string or text, wherever that stands, and never
// by a number alone.
func TestAdd_WhatAThingIsCalled(t *testing.T) {
	t.Parallel()
	for fields, want := range map[string][2]string{ // on its page, and in the list
		"minutes:int who:string":                      {`{{.Data.Who}}`, `{{.Who}}`},
		"a:int b:int c:int d:int e:int who:string":    {`{{.Data.Who}}`, `{{.Who}}`},
		"day:date story:text":                         {`{{printf "%.80s" .Data.Story}}`, `{{printf "%.80s" .Story}}`},
		"minutes:int day:date remark:string:optional": {`Time entry {{.Data.ID}}`, `{{.ID}}`},
	} {
		r, err := generator.Parse("", append([]string{"time_entries"}, strings.Fields(fields)...))
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Listed(); r.Named() != want[0] || got[0].Show != want[1] || !got[0].Names || len(got) > 5 {
			t.Errorf("%s: %s, and in the list %+v", fields, r.Named(), got)
		}
	}
}
