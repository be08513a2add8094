package conformance

import (
	"encoding/json"
	"errors"
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

// skipped is the error of a check that cannot be made.
type skipped struct{ reason string }

func (s skipped) Error() string { return s.reason }

// judge turns what a check returned into a row.
func judge(r rule, seen string, err error) Result {
	out := Result{r.id, r.section, Pass, seen, r.asks}
	if err != nil {
		out.Verdict, out.Seen = Fail, err.Error()
		if errors.As(err, &skipped{}) {
			out.Verdict = Skip
		}
	}
	return out
}

// report prints the rows: as a table, and below it what the broken rules ask
// for; or as JSON.
func report(out io.Writer, results []Result, asJSON bool) error {
	if asJSON {
		e := json.NewEncoder(out)
		e.SetIndent("", "  ")
		e.SetEscapeHTML(false)
		return e.Encode(results)
	}
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "RULE\tSECTION\tVERDICT\tSEEN")
	count := map[string]int{}
	for _, r := range results {
		count[r.Verdict]++
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", r.Rule, r.Section, r.Verdict, r.Seen)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(out, "\n%d pass, %d FAIL, %d skip\n", count[Pass], count[Fail], count[Skip])
	for _, r := range results {
		if r.Verdict == Fail {
			fmt.Fprintf(out, "\n%s (contract, %s): %s\n  seen: %s\n", r.Rule, r.Section, r.asks, r.Seen)
		}
	}
	return nil
}
