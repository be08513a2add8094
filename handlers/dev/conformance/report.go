package conformance

import (
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"
)

// Verdicts of a rule.
const (
	Pass = "pass"
	Fail = "FAIL"
	Skip = "skip" // nothing was judged, for the reason that Seen gives
)

// Result is one row of the table.
type Result struct {
	Rule    string `json:"rule"`
	Section string `json:"section"` // of the contract
	Verdict string `json:"verdict"`
	Seen    string `json:"seen"`

	asks string
}

// report prints the rows and returns how many rules are broken: as JSON, or as
// a table with what the broken rules ask for below it.
func report(out io.Writer, results []Result, asJSON bool) (broken int, err error) {
	count := map[string]int{}
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "RULE\tSECTION\tVERDICT\tSEEN")
	for _, r := range results {
		count[r.Verdict]++
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", r.Rule, r.Section, r.Verdict, r.Seen)
	}
	if asJSON {
		e := json.NewEncoder(out)
		e.SetIndent("", "  ")
		e.SetEscapeHTML(false)
		return count[Fail], e.Encode(results)
	}
	if err := t.Flush(); err != nil {
		return 0, err
	}
	fmt.Fprintf(out, "\n%d pass, %d FAIL, %d skip\n", count[Pass], count[Fail], count[Skip])
	for _, r := range results {
		if r.Verdict == Fail {
			fmt.Fprintf(out, "\n%s (contract, %s): %s\n  seen: %s\n", r.Rule, r.Section, r.asks, r.Seen)
		}
	}
	return count[Fail], nil
}
