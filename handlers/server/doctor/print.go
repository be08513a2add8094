package doctor

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"
)

// ErrFailed says that a line is a failure; the lines have been printed.
var ErrFailed = errors.New("something is wrong")

// Print writes the lines as text, one each, or as one JSON document: an array
// of objects with check, status, detail and fix. It returns ErrFailed when one
// of them is a failure.
func Print(w io.Writer, lines []Line, asJSON bool) error {
	write := writeText
	if asJSON {
		write = writeJSON
	}
	if err := write(w, lines); err != nil {
		return err
	}
	failed := 0
	for _, l := range lines {
		if l.Status == Failure {
			failed++
		}
	}
	if failed > 0 {
		return fmt.Errorf("%w: failures: %d", ErrFailed, failed)
	}
	return nil
}

func writeJSON(w io.Writer, lines []Line) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(lines)
}

func writeText(w io.Writer, lines []Line) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, l := range lines {
		if l.Fix != "" {
			l.Detail += " → " + l.Fix
		}
		fmt.Fprintf(table, "%s\t%s\t%s\n", l.Status, l.Check, l.Detail)
	}
	return table.Flush()
}
