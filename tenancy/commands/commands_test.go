package commands_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"

	"github.com/jackc/pgx/v5"

	"example.com/subproduct/tenancy"
	"example.com/subproduct/tenancy/commands"
	"example.com/subproduct/tenancy/commands/flags"
	"example.com/subproduct/tenancy/localpg/pgtest"
)

var (
	one = fstest.MapFS{"000001_a.up.sql": {Data: []byte("CREATE TABLE a (id bigint PRIMARY KEY)")}}
	two = fstest.MapFS{"000001_a.up.sql": one["000001_a.up.sql"],
		"000002_b.up.sql": {Data: []byte("ALTER TABLE a ADD COLUMN b text NOT NULL DEFAULT 'x'; CREATE INDEX a_b ON a (b) -- the end")}}
)

func open(t *testing.T, url string, files fstest.MapFS) *tenancy.DB {
	t.Helper()
	db, err := tenancy.Open(t.Context(), tenancy.Options{URL: url, Tenant: files, MaxConns: 8, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	return db
}

// fleetOf makes a database with n tenants at version one, to a program at two.
func fleetOf(t *testing.T, n int) (url string, db *tenancy.DB) {
	t.Helper()
	url = pgtest.URL(t)
	before := open(t, url, one)
	must(t, before.MigrateShared(t.Context()))
	for i := range n {
		must(t, before.Provision(t.Context(), slugOf(t, fmt.Sprintf("t%d", i))))
	}
	return url, open(t, url, two)
}

func slugOf(t *testing.T, text string) tenancy.Slug {
	t.Helper()
	slug, err := tenancy.ParseSlug(text)
	must(t, err)
	return slug
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func execSQL(t *testing.T, url, sql string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	must(t, err)
	defer conn.Close(context.Background())
	_, err = conn.Exec(t.Context(), sql)
	must(t, err)
}

// call runs a command and decodes what it printed, where that is JSON.
func call(t *testing.T, db *tenancy.DB, run func(context.Context, *tenancy.DB, []string, *strings.Builder) error, into any, args ...string) (string, error) {
	t.Helper()
	var out strings.Builder
	err := run(t.Context(), db, args, &out)
	if into != nil {
		if err := json.Unmarshal([]byte(out.String()), into); err != nil {
			t.Fatalf("%v in %s", err, out.String())
		}
	}
	return out.String(), err
}

func migrate(ctx context.Context, db *tenancy.DB, args []string, out *strings.Builder) error {
	return commands.Migrate(ctx, db, args, out)
}

func tenants(ctx context.Context, db *tenancy.DB, args []string, out *strings.Builder) error {
	return commands.Tenants(ctx, db, args, out)
}

func script(files fs.FS) func(context.Context, *tenancy.DB, []string, *strings.Builder) error {
	return func(_ context.Context, _ *tenancy.DB, args []string, out *strings.Builder) error {
		return commands.SchemaScript(files, args, out)
	}
}

func TestMigrate_ReportsAndExits(t *testing.T) {
	t.Parallel()
	url, db := fleetOf(t, 4)
	execSQL(t, url, `ALTER TABLE tenant_t2.a ADD COLUMN b int`)

	var status struct {
		Target   int
		Versions map[string]int
		Failed   []map[string]string
	}
	if _, err := call(t, db, migrate, &status, "--status", "--json"); err != nil || status.Target != 2 || status.Versions["1"] != 4 || len(status.Failed) != 0 {
		t.Errorf("status before: %+v, %v", status, err)
	}
	var report struct {
		Target, Migrated, Unchanged int
		Failed                      []map[string]string
	}
	_, err := call(t, db, migrate, &report, "--json")
	if !errors.Is(err, commands.ErrFailed) || report.Target != 2 || report.Migrated != 3 || report.Unchanged != 0 || len(report.Failed) != 1 || report.Failed[0]["slug"] != "t2" {
		t.Errorf("with one broken: %+v, %v", report, err)
	}
	if _, err := call(t, db, migrate, &status, "--status", "--json"); err != nil || len(status.Failed) != 1 || !strings.Contains(status.Failed[0]["error"], "already exists") {
		t.Errorf("status after: %+v, %v", status, err)
	}
	text, err := call(t, db, migrate, nil, "--status")
	if err != nil || !strings.Contains(text, "behind") || !strings.Contains(text, "already exists") {
		t.Errorf("status as text: %s, %v", text, err)
	}
	execSQL(t, url, `ALTER TABLE tenant_t2.a DROP COLUMN b`)
	if _, err := call(t, db, migrate, &report, "--json"); err != nil || report.Migrated != 1 || report.Unchanged != 3 || len(report.Failed) != 0 {
		t.Errorf("after the repair: %+v, %v", report, err)
	}
}

func TestMigrate_OfOneTenantCountsThatTenant(t *testing.T) {
	t.Parallel()
	url, db := fleetOf(t, 4)
	must(t, open(t, url, one).Provision(t.Context(), slugOf(t, "acme")))
	var report struct{ Migrated, Unchanged int }
	for _, want := range []int{1, 0} {
		if _, err := call(t, db, migrate, &report, "--tenant", "acme", "--json"); err != nil || report.Migrated != want || report.Unchanged != 1-want {
			t.Errorf("%+v, %v; want %d migrated and %d unchanged", report, err, want, 1-want)
		}
	}
	if _, err := call(t, db, migrate, nil, "--tenant", "t1"); err != nil {
		t.Fatal(err)
	}
	if _, err := call(t, db, migrate, &report, "--tenant", "acme", "--json"); err != nil || report.Unchanged != 1 {
		t.Errorf("beside another that is up to date: %+v, %v", report, err)
	}
}

func TestStatus_OfOneTenant(t *testing.T) {
	t.Parallel()
	url, db := fleetOf(t, 3)
	if _, err := call(t, db, migrate, nil, "--tenant", "t1"); err != nil {
		t.Fatal(err)
	}
	execSQL(t, url, `UPDATE public.tenants SET migrate_error = 'broken' WHERE slug <> 't1'`)
	for slug, want := range map[string]struct {
		version string
		failed  int
	}{"t0": {"1", 1}, "t1": {"2", 0}} {
		var status struct {
			Versions map[string]int
			Failed   []map[string]string
		}
		_, err := call(t, db, migrate, &status, "--status", "--tenant", slug, "--json")
		if err != nil || len(status.Versions) != 1 || status.Versions[want.version] != 1 || len(status.Failed) != want.failed {
			t.Errorf("%s: %+v, %v", slug, status, err)
		}
	}
	if _, err := call(t, db, migrate, nil, "--status", "--tenant", "nobody"); !errors.Is(err, tenancy.ErrUnknownTenant) {
		t.Errorf("of nobody: %v", err)
	}
}

// Two flags that cannot both be meant are refused, and none of them is dropped.
func TestMigrate_RefusesWhatCannotBeCombined(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"--status", "--drift"}, {"--drift", "--tenant", "t0"}, {"--status", "--canary", "1"}, {"--drift", "--max-failures", "1"}} {
		if _, err := call(t, nil, migrate, nil, args...); !errors.Is(err, flags.ErrUsage) {
			t.Errorf("%v: %v", args, err)
		}
	}
}

func TestStatus_OfADatabaseThatWasNeverMigratedChangesNothing(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	var status struct{ Versions map[string]int }
	if _, err := call(t, open(t, url, one), migrate, &status, "--status", "--json"); err != nil || len(status.Versions) != 0 {
		t.Errorf("%+v, %v", status, err)
	}
}

func TestDrift_NamesEveryDifference(t *testing.T) {
	t.Parallel()
	url, db := fleetOf(t, 3)
	if _, err := call(t, db, migrate, nil); err != nil {
		t.Fatal(err)
	}
	if text, err := call(t, db, migrate, nil, "--drift"); err != nil || !strings.Contains(text, "no tenant") {
		t.Errorf("without drift: %s, %v", text, err)
	}
	execSQL(t, url, `
		ALTER TABLE tenant_t1.a ALTER COLUMN b DROP NOT NULL, ALTER COLUMN b SET DEFAULT 'y', ADD COLUMN extra int, DROP CONSTRAINT a_pkey;
		DROP INDEX tenant_t1.a_b; CREATE VIEW tenant_t1.v AS SELECT id FROM tenant_t1.a`)
	text, err := call(t, db, migrate, nil, "--drift")
	if !errors.Is(err, commands.ErrFailed) {
		t.Errorf("with drift: %v", err)
	}
	for _, want := range []string{"t1: column a.b is text DEFAULT 'y'::text, want text NOT NULL DEFAULT 'x'::text", "column a.extra should not be there",
		"constraint a.a_pkey is missing", "index a_b is missing", "relation v should not be there"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "t0") || strings.Contains(text, "t2") {
		t.Errorf("others are blamed in\n%s", text)
	}
}

// Who is at another version is not compared, which is said: silence would pass for
// a clean answer.
func TestDrift_SaysHowManyWereNotCompared(t *testing.T) {
	t.Parallel()
	url, newer := fleetOf(t, 3)
	if _, err := call(t, newer, migrate, nil, "--tenant", "t1"); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		db       *tenancy.DB
		compared int
		want     string
	}{{open(t, url, one), 1, "ahead of this program: 1;"}, {newer, 2, "behind: 2;"}} {
		text, err := call(t, c.db, migrate, nil, "--drift")
		if want := fmt.Sprintf("no tenant at version %d differs", c.compared); err != nil || !strings.Contains(text, want) ||
			!strings.Contains(text, c.want) || strings.Count(text, "not compared") != 1 {
			t.Errorf("no %q in %s, %v", c.want, text, err)
		}
		var found []tenancy.Drift
		if _, err := call(t, c.db, migrate, &found, "--drift", "--json"); err != nil || len(found) != 0 {
			t.Errorf("as JSON: %v, %v", found, err)
		}
	}
	if _, err := call(t, newer, migrate, nil); err != nil {
		t.Fatal(err)
	}
	if text, err := call(t, newer, migrate, nil, "--drift"); err != nil || strings.Contains(text, "not compared") {
		t.Errorf("of all: %s, %v", text, err)
	}
}

func TestTenants_TheLifeOfOne(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	db := open(t, url, two)
	must(t, db.MigrateShared(t.Context()))
	do := func(want error, args ...string) {
		t.Helper()
		if text, err := call(t, db, tenants, nil, args...); !errors.Is(err, want) || want == nil && err != nil {
			t.Errorf("tenants %v: %v, want %v\n%s", args, err, want, text)
		}
	}
	do(nil, "provision", "acme")
	do(tenancy.ErrUnknownTenant, "cancel", "nobody")
	do(tenancy.ErrUnknownTenant, "show", "nobody")
	do(tenancy.ErrActive, "purge", "acme", "--yes")
	do(nil, "cancel", "acme")
	do(flags.ErrUsage, "purge", "acme")
	do(nil, "restore", "acme")
	do(nil, "cancel", "acme")

	var list []map[string]any
	if _, err := call(t, db, tenants, &list, "list", "--json"); err != nil || len(list) != 1 || list[0]["slug"] != "acme" ||
		list[0]["status"] != "cancelled" || list[0]["schema_version"] != 2.0 || list[0]["size_bytes"].(float64) <= 0 || list[0]["cancelled_at"] == nil {
		t.Errorf("list: %v, %v", list, err)
	}
	if text, err := call(t, db, tenants, nil, "list"); err != nil || !strings.Contains(text, "acme  cancelled") {
		t.Errorf("list: %s, %v", text, err)
	}
	var shown map[string]any
	if _, err := call(t, db, tenants, &shown, "show", "acme", "--json"); err != nil || shown["slug"] != "acme" {
		t.Errorf("show: %v, %v", shown, err)
	}
	do(nil, "purge", "acme", "--yes")
	do(tenancy.ErrUnknownTenant, "show", "acme")
	do(flags.ErrUsage, "show", "Not A Slug")
	do(flags.ErrUsage, "explode", "acme")
	do(flags.ErrUsage)
}

// A flag of another subcommand is refused before anything is done, and says which
// one takes it.
func TestCommands_RefuseFlagsThatTheyWouldIgnore(t *testing.T) {
	t.Parallel()
	for command, run := range map[string]func(context.Context, *tenancy.DB, []string, io.Writer) error{
		"tenants": commands.Tenants, "events": commands.Events(nil), "jobs": commands.Jobs(nil)} {
		for _, args := range map[string][]string{
			"tenants": {"list --yes", "show acme --output x", "provision acme --json", "cancel acme --yes", "restore acme --json", "export acme --json",
				"import FILE --json", "purge acme --yes --json"},
			"events": {"list --ignored x", "list --all-failed", "show 1 --limit 2", "retry 1 --json", "retry --all-failed --json",
				"retry --ignored news --status failed", "ignore 1 --all-failed"},
			"jobs": {"show 1 --tenant acme", "retry 1 --tenant acme", "retry 1 --json", "cancel 1 --status failed", "run chore --json", "run chore --limit 5"},
		}[command] {
			err := run(t.Context(), nil, strings.Fields(args), io.Discard)
			if !errors.Is(err, flags.ErrUsage) || !strings.Contains(err.Error(), ", which goes with ") {
				t.Errorf("%s %s: %v", command, args, err)
			}
		}
	}
}

func TestExport_CanBeRestoredElsewhere(t *testing.T) {
	t.Parallel()
	url, db := fleetOf(t, 2)
	execSQL(t, url, `INSERT INTO tenant_t0.a VALUES (42)`)
	file := filepath.Join(t.TempDir(), "t0.sql")
	if _, err := call(t, db, tenants, nil, "export", "t0", "--output", file); err != nil {
		t.Fatal(err)
	}
	elsewhere := pgtest.URL(t)
	if out, err := exec.Command("psql", "-XqvON_ERROR_STOP=1", "-f", file, elsewhere).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	content, err := os.ReadFile(file)
	if err != nil || strings.Contains(string(content), "tenant_t1") || !strings.Contains(string(content), "42") {
		t.Errorf("export: %v\n%s", err, content)
	}
}

// In a folder that others write to, their links lead an export nowhere.
func TestTenants_ExportFollowsNoPlantedLink(t *testing.T) {
	t.Parallel()
	_, db := fleetOf(t, 1)
	dir := t.TempDir()
	file, victim := filepath.Join(dir, "t0.sql"), filepath.Join(dir, "victim")
	must(t, os.WriteFile(victim, []byte("as before"), 0o600))
	for _, link := range []string{file, file + ".part", file + ".tmp"} {
		must(t, os.Symlink(victim, link))
	}
	if _, err := call(t, db, tenants, nil, "export", "t0", "--output", file); err != nil {
		t.Fatal(err)
	}
	if content, err := os.ReadFile(victim); err != nil || string(content) != "as before" {
		t.Errorf("written through a link: %.50q, %v", content, err)
	}
	if info, err := os.Lstat(file); err != nil || !info.Mode().IsRegular() || info.Mode().Perm() != 0o600 {
		t.Errorf("the export is %v, %v", info, err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*.part")); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}

// What is no file is somebody's device or pipe: an export does not take its place,
// also where a link leads to it.
func TestTenants_ExportReplacesFilesAlone(t *testing.T) {
	t.Parallel()
	_, db := fleetOf(t, 1)
	dir := t.TempDir()
	pipe, link, nowhere := filepath.Join(dir, "pipe"), filepath.Join(dir, "link"), filepath.Join(dir, "nowhere")
	must(t, syscall.Mkfifo(pipe, 0o600))
	must(t, os.Symlink(pipe, link))
	must(t, os.Symlink(filepath.Join(dir, "missing"), nowhere))
	for _, output := range []string{pipe, link, dir} {
		if _, err := call(t, db, tenants, nil, "export", "t0", "--output", output); !errors.Is(err, flags.ErrUsage) || !strings.Contains(err.Error(), output+" is no regular file") {
			t.Errorf("%s: %v", output, err)
		}
	}
	if info, err := os.Lstat(pipe); err != nil || info.Mode().Type() != os.ModeNamedPipe {
		t.Errorf("the pipe is %v, %v", info, err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode().Type() != os.ModeSymlink {
		t.Errorf("the link is %v, %v", info, err)
	}
	for _, output := range []string{nowhere, nowhere} { // then it is a file
		if _, err := call(t, db, tenants, nil, "export", "t0", "--output", output); err != nil {
			t.Error(err)
		}
	}
}

func TestSchemaScript_PrintsAndChecks(t *testing.T) {
	t.Parallel()
	db := open(t, pgtest.URL(t), two)
	text, err := call(t, db, script(two), nil)
	if err != nil || !strings.HasPrefix(text, "-- Tenant schema, version 2, sha256 ") {
		t.Fatalf("%v\n%s", err, text)
	}
	file := filepath.Join(t.TempDir(), "script.sql")
	must(t, os.WriteFile(file, []byte(strings.ReplaceAll(text, "\n", "  \r\n")+"\n\n"), 0o600)) // as a form may give it back
	if out, err := call(t, db, script(two), nil, "--check", file); err != nil || !strings.Contains(out, "current") {
		t.Errorf("the same: %s, %v", out, err)
	}
	if _, err := call(t, nil, script(one), nil, "--check", file); !errors.Is(err, commands.ErrFailed) || !strings.Contains(err.Error(), "version 1") {
		t.Errorf("another: %v; want both versions named", err)
	}
}

func TestCommands_OnAnEmptyDatabase(t *testing.T) {
	t.Parallel()
	db := open(t, pgtest.URL(t), two)
	for _, args := range [][]string{{"list"}, {"show", "acme"}, {"cancel", "acme"}} {
		if _, err := call(t, db, tenants, nil, args...); err == nil || !strings.Contains(err.Error(), "run `migrate` first") {
			t.Errorf("tenants %v: %v; want to be told what to do", args, err)
		}
	}
	if _, err := call(t, db, tenants, nil, "provision", "acme"); err != nil {
		t.Errorf("the first tenant: %v", err)
	}
}
