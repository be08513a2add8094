package commands

import (
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"
	"time"

	"example.com/subproduct/tenancy/jobs"
)

func printJobs(w io.Writer, found []jobs.Record) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "ID\tKIND\tTENANT\tSTATUS\tATTEMPTS\tCREATED\tDUE\tLAST ERROR")
	for _, job := range found {
		fmt.Fprintf(table, "%d\t%s\t%s\t%s\t%d\t%s\t%s\t%s\n", job.ID, Printable(job.Kind), orDash(job.TenantSlug), job.Status,
			job.Attempts, moment(&job.CreatedAt), moment(due(job)), oneLine(orDash(job.LastError)))
	}
	return table.Flush()
}

// printJob prints the fields by their names, the attempts that failed and the
// arguments.
func printJob(w io.Writer, job jobs.Record) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range [][2]string{
		{"id", strconv.FormatInt(job.ID, 10)},
		{"kind", Printable(job.Kind)},
		{"tenant_slug", orDash(job.TenantSlug)},
		{"status", job.Status},
		{"attempts", strconv.Itoa(job.Attempts)},
		{"created_at", moment(&job.CreatedAt)},
		{"due_at", moment(due(job))},
		{"finished_at", moment(job.FinishedAt)},
	} {
		fmt.Fprintf(table, "%s\t%s\n", row[0], row[1])
	}
	fmt.Fprint(table, "\nATTEMPT\tSTARTED\tERROR\n")
	for _, a := range job.Errors {
		fmt.Fprintf(table, "%d\t%s\t%s\n", a.Attempt, moment(&a.At), Printable(orDash(&a.Error)))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\narguments:\n%s\n", Printable(job.Args))
	return err
}

// due is nil for a job that waits for nothing.
func due(job jobs.Record) *time.Time {
	if job.Status != jobs.Pending {
		return nil
	}
	return &job.DueAt
}
