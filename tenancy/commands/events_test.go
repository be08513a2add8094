package commands_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/jackc/pgx/v5"

	"example.com/subproduct/tenancy"
	"example.com/subproduct/tenancy/commands"
	"example.com/subproduct/tenancy/commands/flags"
	"example.com/subproduct/tenancy/inbox"
	"example.com/subproduct/tenancy/localpg/pgtest"
)

// mailbox is an inbox with five events: done, failed (its handler refuses),
// ignored, failed (no tenant) and pending.
type mailbox struct {
	db       *tenancy.DB
	handlers inbox.Handlers
	ids      []int64
}

func newMailbox(t *testing.T) *mailbox {
	t.Helper()
	db, err := tenancy.Open(t.Context(), tenancy.Options{
		URL: pgtest.URL(t), Tenant: fstest.MapFS{}, MaxConns: 4, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	if err := db.MigrateShared(t.Context()); err != nil {
		t.Fatal(err)
	}
	fails := func(err error) inbox.Handler {
		return inbox.Handler{Lifecycle: true, Apply: func(context.Context, pgx.Tx, inbox.Event) error { return err }}
	}
	m := &mailbox{db: db, handlers: inbox.Handlers{
		"good": fails(nil), "bad": fails(inbox.Permanent(errors.New("first line\nsecond line"))), "later": fails(errors.New("not now")),
	}}
	for i, e := range []struct{ eventType, slug string }{{"good", "acme"}, {"bad", "acme"}, {"nobody's", "acme"}, {"bad", ""}, {"later", "globex"}} {
		m.ids = append(m.ids, m.deliver(t, inbox.Delivery{Type: e.eventType, Tenant: e.slug,
			Body: fmt.Appendf(nil, `{"type":%q, "n":%d}`, e.eventType, i), SignedWith: "current"}))
	}
	return m
}

// deliver returns the id of the event. Nothing works the events afterwards: what
// a command then makes pending stays so.
func (m *mailbox) deliver(t *testing.T, d inbox.Delivery) int64 {
	t.Helper()
	in, err := inbox.New(m.db, m.handlers, inbox.Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close(t.Context())
	if _, err := in.Deliver(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	newest, err := inbox.List(t.Context(), m.db, "", 1)
	if err != nil {
		t.Fatal(err)
	}
	return newest[0].ID
}

// events calls the command, which must succeed.
func (m *mailbox) events(t *testing.T, args ...string) string {
	t.Helper()
	var out strings.Builder
	if err := commands.Events(m.handlers)(t.Context(), m.db, args, &out); err != nil {
		t.Fatalf("events %v: %v", args, err)
	}
	return out.String()
}

func (m *mailbox) id(n int) string { return fmt.Sprint(m.ids[n]) }

func (m *mailbox) list(t *testing.T, args ...string) (events []map[string]any) {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(m.events(t, append([]string{"list", "--json"}, args...)...)))
	if err := decoder.Decode(&events); err != nil {
		t.Fatal(err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		t.Error("more than one document")
	}
	return events
}

func statuses(events []map[string]any) string {
	var all []string
	for _, e := range events {
		all = append(all, fmt.Sprint(e["status"]))
	}
	return strings.Join(all, " ")
}

func TestEvents_List(t *testing.T) {
	t.Parallel()
	m := newMailbox(t)
	for args, want := range map[string]string{
		"": "pending failed ignored failed done", "--status failed": "failed failed", "--status done": "done",
		"--limit 2": "pending failed", "--status ignored": "ignored", "--limit=1 --status=pending": "pending",
	} {
		if got := statuses(m.list(t, strings.Fields(args)...)); got != want {
			t.Errorf("list %s: %s, want %s", args, got, want)
		}
	}
	newest := m.list(t)[0]
	for _, column := range []string{"id", "event_type", "tenant_slug", "status", "attempts", "last_error", "signed_with", "received_at", "processed_at"} {
		if _, there := newest[column]; !there {
			t.Errorf("no %s in %v", column, newest)
		}
	}
	if newest["last_error"] != "not now" || newest["attempts"] != float64(1) || newest["processed_at"] != nil || newest["body"] != nil {
		t.Errorf("%v", newest)
	}
	table := m.events(t, "list")
	if lines := strings.Split(table, "\n"); len(lines) != 9 || !strings.HasPrefix(lines[0], "ID") || !strings.Contains(table, "first line…") {
		t.Errorf("the table is\n%s", table)
	}
}

func TestEvents_AnEmptyListIsAnArray(t *testing.T) {
	t.Parallel()
	m := newMailbox(t)
	m.events(t, "retry", "--all-failed")
	m.events(t, "retry", m.id(2)) // the ignored one
	if got := m.events(t, "list", "--json", "--status", "ignored"); got != "[]\n" {
		t.Errorf("an empty list is %q", got)
	}
}

func TestEvents_TheListSaysWhenThePreviousSecretWasUsed(t *testing.T) {
	t.Parallel()
	m := newMailbox(t)
	if table := m.events(t, "list"); !strings.Contains(table, "previous secret last used: not by any") {
		t.Errorf("never used:\n%s", table)
	}
	m.deliver(t, inbox.Delivery{Type: "x", Body: []byte("{}"), SignedWith: "previous"})
	if table := m.events(t, "list", "--status", "done"); !regexp.MustCompile(`previous secret last used: 2\d{3}-`).MatchString(table) {
		t.Errorf("used once:\n%s", table)
	}
}

func TestEvents_Show(t *testing.T) {
	t.Parallel()
	m := newMailbox(t)
	shown := m.events(t, "show", m.id(1))
	for _, want := range []string{`event_type +bad`, `status +failed`, `tenant_slug +acme`, `signed_with +current`, `ATTEMPT +STARTED`, `(?m)^1 +2\d{3}-.* first line$`} {
		if !regexp.MustCompile(want).MatchString(shown) {
			t.Errorf("no %s in\n%s", want, shown)
		}
	}
	if !strings.HasSuffix(shown, "\n"+`{"type":"bad", "n":1}`+"\n") {
		t.Errorf("not the raw body at the end:\n%s", shown)
	}
	id := m.deliver(t, inbox.Delivery{Type: "x", Body: []byte("\u009b2J"), SignedWith: "current"})
	if shown := m.events(t, "show", fmt.Sprint(id)); !strings.HasSuffix(shown, `"\u009b2J"`+"\n") {
		t.Errorf("a body that a terminal would obey is printed as it is:\n%q", shown)
	}
}

func TestEvents_ShowAsJSON(t *testing.T) {
	t.Parallel()
	m := newMailbox(t)
	var shown struct {
		ID       int64
		Type     string `json:"event_type"`
		Attempts int
		Tries    []struct {
			Attempt int
			Error   string
		} `json:"webhook_attempts"`
		Body string
	}
	must(t, json.Unmarshal([]byte(m.events(t, "show", m.id(1), "--json")), &shown))
	if shown.ID != m.ids[1] || shown.Type != "bad" || shown.Attempts != 1 || shown.Body != `{"type":"bad", "n":1}` ||
		len(shown.Tries) != 1 || shown.Tries[0].Attempt != 1 || !strings.Contains(shown.Tries[0].Error, "second line") {
		t.Errorf("%+v", shown)
	}
}

func TestEvents_Retry(t *testing.T) {
	t.Parallel()
	m := newMailbox(t)
	for n, want := range map[int]error{0: inbox.ErrNotRetryable, 1: nil, 2: nil, 3: inbox.ErrNotRetryable, 4: nil} {
		if err := commands.Events(m.handlers)(t.Context(), m.db, []string{"retry", m.id(n)}, io.Discard); !errors.Is(err, want) {
			t.Errorf("retry of event %d: %v, want %v", n, err, want)
		}
	}
	if got := statuses(m.list(t)); got != "pending failed pending pending done" {
		t.Errorf("afterwards they are %s", got)
	}
	if retried := m.list(t)[3]; retried["attempts"] != float64(0) {
		t.Errorf("an operator's retry is no fresh start: %v", retried)
	}
	if shown := m.events(t, "show", m.id(1)); !strings.Contains(shown, "first line") {
		t.Errorf("the history is gone:\n%s", shown)
	}
	if got := m.events(t, "retry", "--all-failed"); !strings.Contains(got, ": 0") {
		t.Errorf("one that names no tenant: %s", got)
	}
}

func TestEvents_RetryAllFailed(t *testing.T) {
	t.Parallel()
	m := newMailbox(t)
	if got := m.events(t, "retry", "--all-failed"); !strings.Contains(got, ": 1") {
		t.Error(got)
	}
	if got := statuses(m.list(t)); got != "pending failed ignored pending done" {
		t.Errorf("afterwards they are %s", got)
	}
}

// What is never to be applied stops being a failure, also where it names no tenant
// and could not be tried again.
func TestEvents_Ignore(t *testing.T) {
	t.Parallel()
	m := newMailbox(t)
	for n, want := range map[int]error{0: inbox.ErrNotFailed, 1: nil, 2: inbox.ErrNotFailed, 3: nil, 4: inbox.ErrNotFailed} {
		if err := commands.Events(m.handlers)(t.Context(), m.db, []string{"ignore", m.id(n)}, io.Discard); !errors.Is(err, want) {
			t.Errorf("event %d: %v, want %v", n, err, want)
		}
	}
	if got := statuses(m.list(t)); got != "pending ignored ignored ignored done" {
		t.Errorf("afterwards they are %s", got)
	}
	if shown := m.events(t, "show", m.id(1)); !strings.Contains(shown, "first line") {
		t.Errorf("why it failed is gone:\n%s", shown)
	}
	var audited int
	must(t, m.db.System().QueryRow(t.Context(), `SELECT count(*) FROM public.audit_log WHERE action = 'ignore'`).Scan(&audited))
	if audited != 2 {
		t.Errorf("%d entries in the audit log, want 2", audited)
	}
	m.events(t, "retry", m.id(1))
	if got := statuses(m.list(t)); got != "pending ignored ignored pending done" {
		t.Errorf("after a retry they are %s", got)
	}
}

func TestEvents_WrongCalls(t *testing.T) {
	t.Parallel()
	m := newMailbox(t)
	for _, args := range []string{"", "nonsense", "list 7", "list --status lost", "list --limit 0", "list --nonsense", "show", "show x", "show 1 2", "retry", "retry x", "retry 1 --all-failed", "retry --all-failed --ignored good", "ignore", "ignore x"} {
		if err := commands.Events(m.handlers)(t.Context(), m.db, strings.Fields(args), &bytes.Buffer{}); !errors.Is(err, flags.ErrUsage) {
			t.Errorf("events %s: %v, want a usage error", args, err)
		}
	}
	for _, args := range []string{"show 99", "retry 99", "ignore 99"} {
		if err := commands.Events(m.handlers)(t.Context(), m.db, strings.Fields(args), &bytes.Buffer{}); !errors.Is(err, inbox.ErrUnknownEvent) {
			t.Errorf("events %s: %v, want that there is none", args, err)
		}
	}
}
