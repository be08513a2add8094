package commands

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"

	"example.com/subproduct/tenancy"
	"example.com/subproduct/tenancy/commands/flags"
	"example.com/subproduct/tenancy/inbox"
)

const eventsUsage = "events list [--status pending|done|failed|ignored] [--limit N] [--json] | show ID [--json] | retry ID | retry --all-failed | retry --ignored TYPE | ignore ID"

var eventsTake = flags.Takes{
	"list": {"status", "limit", "json"}, "show": {"json"}, "retry": {"all-failed", "ignored"}, "ignore": {},
}

// eventsFlags is a call of Events.
type eventsFlags struct {
	word            string // what to do
	id              int64
	status          string
	limit           int
	json, allFailed bool
	ignored         string
}

// Events looks into the webhook inbox, and has what failed, or came before its
// handler, tried again or what failed ignored; handlers are the product's. Beside
// flags.ErrUsage the command returns inbox.ErrUnknownEvent, inbox.ErrNotRetryable
// and inbox.ErrNotFailed.
func Events(handlers inbox.Handlers) func(ctx context.Context, db *tenancy.DB, args []string, stdout io.Writer) error {
	return func(ctx context.Context, db *tenancy.DB, args []string, stdout io.Writer) error {
		f, err := parseEvents(args, stdout)
		if err != nil {
			return err
		}
		return f.dispatch(ctx, db, handlers, stdout)
	}
}

// CheckEvents refuses a wrong call of Events, for which it needs no database.
func CheckEvents(args []string) error {
	_, err := parseEvents(args, io.Discard)
	return err
}

func parseEvents(args []string, stdout io.Writer) (f eventsFlags, err error) {
	set := flags.New("events", eventsUsage)
	set.StringVar(&f.status, "status", "", "list only the pending, done, failed or ignored ones")
	set.IntVar(&f.limit, "limit", 100, "list at most so many, the newest")
	set.BoolVar(&f.json, "json", false, "print one JSON document (list, show)")
	set.BoolVar(&f.allFailed, "all-failed", false, "retry every failed event")
	set.StringVar(&f.ignored, "ignored", "", "retry the ignored events of this type, whose handler came after them")
	words, err := eventsTake.Parse(set, args, stdout)
	if err != nil {
		return f, err
	}
	return f, f.read(words)
}

func (f *eventsFlags) read(words []string) (err error) {
	statuses := []string{"", inbox.Pending, inbox.Done, inbox.Failed, inbox.Ignored}
	several := f.allFailed || f.ignored != ""
	switch {
	case f.allFailed && f.ignored != "":
		return flags.Refuse("--all-failed and --ignored are two things to do: one at a time")
	case len(words) == 1 && words[0] == "list" && slices.Contains(statuses, f.status) && f.limit > 0, len(words) == 1 && words[0] == "retry" && several:
		f.word = words[0]
		return nil
	case len(words) != 2 || several || words[0] == "list" || eventsTake[words[0]] == nil:
		return flags.Refuse(eventsUsage)
	}
	f.word = words[0]
	if f.id, err = strconv.ParseInt(words[1], 10, 64); err != nil {
		return flags.Refuse("%q is no event's id", words[1])
	}
	return nil
}

func (f eventsFlags) dispatch(ctx context.Context, db *tenancy.DB, handlers inbox.Handlers, stdout io.Writer) error {
	switch {
	case f.word == "list":
		return errorOr(db.CheckShared(ctx), func() error { return f.list(ctx, db, stdout) })
	case f.allFailed:
		return errorOr(db.CheckShared(ctx), func() error { return retryFailed(ctx, db, stdout) })
	case f.ignored != "":
		return errorOr(db.CheckShared(ctx), func() error { return retryIgnored(ctx, db, handlers, f.ignored, stdout) })
	case f.word == "show":
		return f.show(ctx, db, stdout)
	case f.word == "retry":
		return retryEvent(ctx, db, f.id, stdout)
	case f.word == "ignore":
		return ignoreEvent(ctx, db, f.id, stdout)
	}
	return flags.Refuse(eventsUsage)
}

func (f eventsFlags) list(ctx context.Context, db *tenancy.DB, stdout io.Writer) error {
	events, err := inbox.List(ctx, db, f.status, f.limit)
	if err != nil {
		return err
	}
	if f.json {
		return printJSON(stdout, events)
	}
	used, err := inbox.PreviousSecretUsed(ctx, db)
	if err != nil {
		return err
	}
	return printEvents(stdout, events, used)
}

func (f eventsFlags) show(ctx context.Context, db *tenancy.DB, stdout io.Writer) error {
	e, attempts, err := inbox.Show(ctx, db, f.id)
	if err != nil {
		return err
	}
	if f.json {
		return printJSON(stdout, struct {
			inbox.Record
			Attempts []inbox.Attempt `json:"webhook_attempts"`
			Body     string          `json:"body"`
		}{e, attempts, string(e.Body)})
	}
	return printEvent(stdout, e, attempts)
}

func retryEvent(ctx context.Context, db *tenancy.DB, id int64, stdout io.Writer) error {
	if err := inbox.Retry(ctx, db, id); err != nil {
		return err
	}
	_, err := fmt.Fprintf(stdout, "event %d is tried again by the next server that looks\n", id)
	return err
}

func ignoreEvent(ctx context.Context, db *tenancy.DB, id int64, stdout io.Writer) error {
	if err := inbox.Ignore(ctx, db, id); err != nil {
		return err
	}
	_, err := fmt.Fprintf(stdout, "event %d is ignored; events retry %[1]d has it tried all the same\n", id)
	return err
}

func retryFailed(ctx context.Context, db *tenancy.DB, stdout io.Writer) error {
	n, err := inbox.RetryFailed(ctx, db)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(stdout, "failed events that are tried again: %d\n", n)
	return err
}

func retryIgnored(ctx context.Context, db *tenancy.DB, handlers inbox.Handlers, eventType string, stdout io.Writer) error {
	handler, ok := handlers[eventType]
	if !ok {
		return flags.Refuse("this program has no handler for %q: they would be ignored again", eventType)
	}
	n, err := inbox.RetryIgnored(ctx, db, eventType, handler.Lifecycle)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(stdout, "ignored events that are tried: %d\n", n)
	return err
}
