package commands

import (
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"
	"time"

	"example.com/subproduct/tenancy/inbox"
)

// printEvents ends with the answer to whether a former secret can go.
func printEvents(w io.Writer, events []inbox.Record, previousUsed *time.Time) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "ID\tTYPE\tTENANT\tSTATUS\tATTEMPTS\tRECEIVED\tSIGNED WITH\tLAST ERROR")
	for _, e := range events {
		fmt.Fprintf(table, "%d\t%s\t%s\t%s\t%d\t%s\t%s\t%s\n", e.ID, Printable(e.EventType), orDash(e.TenantSlug), e.Status,
			e.Attempts, moment(&e.ReceivedAt), e.SignedWith, oneLine(orDash(e.LastError)))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	used := "not by any event that is kept"
	if previousUsed != nil {
		used = moment(previousUsed)
	}
	_, err := fmt.Fprintf(w, "\nprevious secret last used: %s\n", used)
	return err
}

// printEvent prints the columns by their names, the attempts and the raw body.
func printEvent(w io.Writer, e inbox.Record, attempts []inbox.Attempt) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range [][2]string{
		{"id", strconv.FormatInt(e.ID, 10)},
		{"event_type", Printable(e.EventType)},
		{"tenant_slug", orDash(e.TenantSlug)},
		{"status", e.Status},
		{"attempts", strconv.Itoa(e.Attempts)},
		{"last_error", Printable(orDash(e.LastError))},
		{"signed_with", e.SignedWith},
		{"received_at", moment(&e.ReceivedAt)},
		{"next_attempt_at", moment(nextAttempt(e))},
		{"processed_at", moment(e.ProcessedAt)},
	} {
		fmt.Fprintf(table, "%s\t%s\n", row[0], row[1])
	}
	fmt.Fprint(table, "\nATTEMPT\tSTARTED\tSECONDS\tERROR\n")
	for _, a := range attempts {
		fmt.Fprintf(table, "%d\t%s\t%.3f\t%s\n", a.Attempt, moment(&a.StartedAt), a.Seconds, Printable(orDash(&a.Error)))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\nbody, %d bytes:\n%s\n", len(e.Body), Printable(string(e.Body)))
	return err
}

// nextAttempt is nil for an event that is finished.
func nextAttempt(e inbox.Record) *time.Time {
	if e.Status != inbox.Pending {
		return nil
	}
	return &e.NextAttemptAt
}

func orDash(s *string) string {
	if s == nil || *s == "" {
		return "–"
	}
	return *s
}

// moment has seconds, for the attempts at an event follow each other quickly.
func moment(t *time.Time) string {
	if t == nil {
		return "–"
	}
	return t.UTC().Format(time.RFC3339)
}
