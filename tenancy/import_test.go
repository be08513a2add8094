package tenancy_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"os"
	osexec "os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"example.com/subproduct/tenancy"
	"example.com/subproduct/tenancy/localpg/pgtest"
)

// warehouse has one of everything that a dump may get wrong.
var warehouse = files("000001_warehouse.up.sql", `
	CREATE TYPE colour AS ENUM ('red', 'it''s "green"');
	CREATE DOMAIN amount AS numeric(12, 2) CHECK (VALUE >= 0);
	CREATE TABLE "Shelves" (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL DEFAULT 'no name; --');
	CREATE TABLE parts (
		id serial PRIMARY KEY, shelf bigint NOT NULL REFERENCES "Shelves" (id) ON DELETE CASCADE, kind text REFERENCES public.kinds (name),
		colour colour NOT NULL DEFAULT 'red', price amount, picture bytea, twice numeric GENERATED ALWAYS AS (price * 2) STORED,
		made timestamptz NOT NULL DEFAULT now(), more jsonb, UNIQUE (shelf, colour, picture));
	CREATE INDEX parts_lower ON parts (lower(kind)) WHERE price > 1;
	CREATE VIEW dear AS SELECT p.id, s.name FROM parts p JOIN "Shelves" s ON s.id = p.shelf WHERE p.price > 10;
	CREATE FUNCTION shelf_name(bigint) RETURNS text LANGUAGE sql STABLE AS 'SELECT name FROM "Shelves" WHERE id = $1'`)

var kinds = files("000001_kinds.up.sql", `CREATE TABLE public.kinds (name text PRIMARY KEY); INSERT INTO public.kinds VALUES ('screw')`)

const wares = `
	INSERT INTO "Shelves" (name) VALUES (E'\\.'), (E'COMMIT;\n\\! touch /tmp/owned\n\\.\n'), (E'tab\t\\N \u00e9 \U0001F600 ''"$$;'), (DEFAULT);
	INSERT INTO parts (shelf, kind, colour, price, picture, more)
		SELECT 1 + i % 4, 'screw', 'it''s "green"', i, decode(repeat(to_hex(i % 256), 40) || '00ff5c', 'hex'), jsonb_build_object('k', E'\\"' || i)
		FROM generate_series(16, 200) i;
	DELETE FROM parts WHERE id = 185`

// stocked is a database with the tenant acme, and its export.
func stocked(t *testing.T) (url string, db *tenancy.DB, dump string) {
	t.Helper()
	url = pgtest.URL(t)
	db = open(t, tenancy.Options{URL: url, Tenant: warehouse, Shared: kinds})
	ctx := provision(t, db, "acme")
	if err := db.SignedIn(ctx, slug(t, "acme"), "Pro's \"plan\"\n-- x", time.Now()); err != nil {
		t.Fatal(err)
	}
	if err := db.InTx(ctx, func(tx pgx.Tx) error { _, err := tx.Exec(ctx, wares, pgx.QueryExecModeSimpleProtocol); return err }); err != nil {
		t.Fatal(err)
	}
	return url, db, export(t, db, "acme")
}

var errBoom = errors.New("boom")

// export is an export without what pg_dump makes up for each.
func export(t *testing.T, db *tenancy.DB, name string) string {
	t.Helper()
	var dump strings.Builder
	if err := db.Export(t.Context(), slug(t, name), &dump); err != nil {
		t.Fatal(err)
	}
	return regexp.MustCompile(`(?m)^\\(un)?restrict .*\n`).ReplaceAllString(dump.String(), "")
}

func purge(t *testing.T, db *tenancy.DB, name string) {
	t.Helper()
	if err := errors.Join(db.Cancel(t.Context(), slug(t, name)), db.Purge(t.Context(), slug(t, name))); err != nil {
		t.Fatal(err)
	}
}

// wantAbsent fails when anything of the tenant is there.
func wantAbsent(t *testing.T, url, name string) {
	t.Helper()
	if pgtest.Query[bool](t, url, `SELECT to_regnamespace($1) IS NOT NULL OR EXISTS (SELECT FROM public.tenants WHERE slug = $2)`, "tenant_"+name, name) {
		t.Error("something of the tenant is there")
	}
}

// Catalog, rows, sequences and registry row are as before, and what came before
// the import says no more about the tenant.
func TestImport_BringsBackWhatExportWrote(t *testing.T) {
	t.Parallel()
	url, db, dump := stocked(t)
	purge(t, db, "acme")
	pgtest.Exec(t, url, `INSERT INTO public.webhook_events (event_type, tenant_slug, lifecycle, status, body, body_sha256) VALUES ('tenant.cancelled', 'acme', true, 'pending', '', '')`)
	if got, err := db.Import(t.Context(), strings.NewReader(dump)); err != nil || got != slug(t, "acme") {
		t.Fatalf("%s, %v", got, err)
	}
	if again := export(t, db, "acme"); again != dump {
		t.Errorf("exported again it is\n%s\nand was\n%s", again, dump)
	}
	if err := db.FindDrift(t.Context(), 1, func(d tenancy.Drift) { t.Error(d) }); err != nil {
		t.Error(err)
	}
	tenant, err := db.Tenant(t.Context(), slug(t, "acme"))
	if err != nil || tenant.Status != tenancy.Active || tenant.PlanType != "Pro's \"plan\"\n-- x" || tenant.LastSignInAt == nil {
		t.Errorf("%+v, %v", tenant, err)
	}
	ctx := tenancy.WithTenant(t.Context(), tenant)
	var id, n int
	err = db.InTx(ctx, func(tx pgx.Tx) error {
		return tx.QueryRow(ctx, `INSERT INTO parts (shelf) VALUES (4) RETURNING id, (SELECT count(*) FROM parts)`).Scan(&id, &n)
	})
	if err != nil || id != 186 || n != 184 {
		t.Errorf("the next part is %d beside %d, %v; want 186 beside 184", id, n, err)
	}
	if !pgtest.Query[bool](t, url, `SELECT commanded_at > updated_at AND NOT EXISTS (SELECT FROM public.webhook_events WHERE status = 'pending') FROM public.tenants`) {
		t.Error("it is not the latest word about the tenant")
	}
}

// Whatever is wrong is said, and nothing of the tenant is there afterwards.
func TestImport_Refuses(t *testing.T) {
	t.Parallel()
	url, db, dump := stocked(t)
	if _, err := db.Import(t.Context(), strings.NewReader(dump)); !errors.Is(err, tenancy.ErrTenantThere) {
		t.Errorf("beside itself: %v", err)
	}
	purge(t, db, "acme")
	_, headless, _ := strings.Cut(dump, "\n")
	middle := strings.Index(dump, "COPY tenant_acme.parts")
	for name, c := range map[string]struct {
		file string
		want error
	}{
		"empty":                 {"", tenancy.ErrNotExported},
		"no header":             {headless, tenancy.ErrNotExported},
		"no JSON":               {"-- Exported tenant: acme\n" + headless, tenancy.ErrNotExported},
		"a slug that is none":   {strings.Replace(dump, `"slug":"acme"`, `"slug":"../x"`, 1), tenancy.ErrNotExported},
		"one endless line":      {strings.Repeat("-- Exported tenant: ", 1e5), tenancy.ErrNotExported},
		"a newer version":       {strings.Replace(dump, `"schema_version":1`, `"schema_version":2`, 1), tenancy.ErrNewerExport},
		"only a header":         {dump[:len(dump)-len(headless)], tenancy.ErrCutOff},
		"cut off between":       {dump[:middle], tenancy.ErrCutOff},
		"cut off within COPY":   {dump[:middle+2000], tenancy.ErrCutOff},
		"cut off within a line": {dump[:strings.Index(dump, "'no name")+5], tenancy.ErrCutOff},
		"no last line":          {dump[:strings.LastIndex(dump, "-- End")], tenancy.ErrCutOff},
		"another's last line":   {strings.Replace(dump, "-- End of tenant acme", "-- End of tenant acme2", 1), tenancy.ErrCutOff},
	} {
		if _, err := db.Import(t.Context(), strings.NewReader(c.file)); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
		wantAbsent(t, url, "acme")
	}
	for name, file := range map[string]string{
		"broken SQL":              strings.Replace(dump, "CREATE INDEX", "CREATE NONSENSE", 1),
		"another tenant's header": strings.ReplaceAll(dump, "tenant_acme", "tenant_other"),
		"an end too early":        strings.Replace(dump, "CREATE INDEX", "ROLLBACK; CREATE INDEX", 1),
		"text that is not closed": strings.Replace(dump, "CREATE INDEX", "SELECT 'CREATE INDEX", 1),
	} {
		if _, err := db.Import(t.Context(), strings.NewReader(file)); err == nil {
			t.Errorf("%s: accepted", name)
		}
		wantAbsent(t, url, "acme")
		wantAbsent(t, url, "other")
	}
	if _, err := db.Import(t.Context(), strings.NewReader(strings.TrimSpace(dump)+"\r\n")); err != nil {
		t.Errorf("whole: %v", err)
	}
}

// then is a reader that does something when it is reached, and may fail.
type then func() error

func (f then) Read([]byte) (int, error) {
	if err := f(); err != nil {
		return 0, err
	}
	return 0, io.EOF
}

// However an import ends in the middle, nothing of it is there.
func TestImport_NothingIsLeftOfAHalfOne(t *testing.T) {
	t.Parallel()
	url, db, dump := stocked(t)
	purge(t, db, "acme")
	half := strings.Index(dump, "CREATE INDEX")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for name, interrupt := range map[string]then{
		"the file cannot be read": func() error { return errBoom },
		"it is given up":          func() error { cancel(); return nil },
		"psql is killed":          func() error { return killPsql(t, "acme") },
		"its backend is killed": func() error {
			pgtest.Exec(t, url, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'psql' AND datname = current_database()`)
			return nil
		},
	} {
		in := t.Context()
		if name == "it is given up" {
			in = ctx
		}
		if _, err := db.Import(in, io.MultiReader(strings.NewReader(dump[:half]), psqlBegins(t, url), interrupt, strings.NewReader(dump[half:]))); err == nil || errors.Is(err, tenancy.ErrTenantThere) {
			t.Errorf("%s: %v; want an error, and not that the tenant is there", name, err)
		}
		await(t, "the backend is gone", func() bool {
			return pgtest.Query[int](t, url, `SELECT count(*) FROM pg_stat_activity WHERE application_name = 'psql' AND datname = current_database()`) == 0
		})
		wantAbsent(t, url, "acme")
	}
}

// psqlBegins ends when a psql has begun an import in the database, which holds
// the tenant's lock.
func psqlBegins(t *testing.T, url string) then {
	return func() error {
		for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
			conn, err := pgx.Connect(context.Background(), url)
			if err != nil {
				return err
			}
			var begun bool
			err = conn.QueryRow(context.Background(), `SELECT EXISTS (SELECT FROM pg_locks JOIN pg_stat_activity a USING (pid)
				WHERE a.application_name = 'psql' AND a.datname = current_database() AND locktype = 'advisory' AND granted)`).Scan(&begun)
			if conn.Close(context.Background()); begun || err != nil {
				return err
			}
		}
		t.Error("no psql has the tenant's lock")
		return errBoom
	}
}

// killPsql kills the psql that imports a tenant for this process.
func killPsql(t *testing.T, name string) error {
	out, err := osexec.Command("pgrep", "-P", strconv.Itoa(os.Getpid()), "-f", "psql.*"+name).Output()
	if err != nil {
		return err
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(out)))
	if err != nil {
		return err
	}
	process, err := os.FindProcess(pid)
	if err != nil {
		return err
	}
	return process.Kill()
}

// Of two at once one wins.
func TestImport_TwoAtOnce(t *testing.T) {
	t.Parallel()
	url, db, dump := stocked(t)
	purge(t, db, "acme")
	var wg sync.WaitGroup
	results := make([]error, 4)
	for i := range results {
		wg.Go(func() { _, results[i] = db.Import(t.Context(), strings.NewReader(dump)) })
	}
	wg.Wait()
	won := 0
	for _, err := range results {
		switch {
		case err == nil:
			won++
		case !errors.Is(err, tenancy.ErrTenantThere):
			t.Error(err)
		}
	}
	if n := pgtest.Query[int](t, url, `SELECT count(*) FROM tenant_acme.parts`); won != 1 || n != 184 {
		t.Errorf("%d won, with %d rows", won, n)
	}
}

// An export of an earlier version is at this program's when the import returns;
// where its migration fails the tenant is there, and the registry says so.
func TestImport_AnOlderOneIsMigrated(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	old := open(t, tenancy.Options{URL: url, Tenant: versionOne})
	provision(t, old, "acme")
	provision(t, old, "broken")
	pgtest.Exec(t, url, `ALTER TABLE tenant_broken.a ADD COLUMN b int`)
	acme, broken := export(t, old, "acme"), export(t, old, "broken")
	purge(t, old, "acme")
	purge(t, old, "broken")
	db := open(t, tenancy.Options{URL: url, Tenant: versionTwo})
	if _, err := db.Import(t.Context(), strings.NewReader(acme)); err != nil {
		t.Fatal(err)
	}
	if v := pgtest.Query[int](t, url, `SELECT schema_version FROM public.tenants WHERE slug = 'acme'`); v != 2 {
		t.Errorf("version %d", v)
	}
	if _, err := db.Import(t.Context(), strings.NewReader(broken)); err == nil || !strings.Contains(err.Error(), "is imported, and not migrated") {
		t.Errorf("one that cannot be migrated: %v", err)
	}
	if !pgtest.Query[bool](t, url, `SELECT migrate_error LIKE '%already exists%' FROM public.tenants WHERE slug = 'broken'`) {
		t.Error("the registry does not say why")
	}
}

// Behind a pooler in transaction mode it is one transaction too, and what the
// file sets for its session is set for nobody else.
func TestImport_ThroughAPooler(t *testing.T) {
	t.Parallel()
	url, db, dump := stocked(t)
	purge(t, db, "acme")
	through := pgtest.Pooler(t, url)
	pooled := open(t, tenancy.Options{URL: through, Tenant: warehouse, Shared: kinds})
	if _, err := pooled.Import(t.Context(), strings.NewReader(dump)); err != nil {
		t.Fatal(err)
	}
	if again := export(t, db, "acme"); again != dump {
		t.Errorf("exported again it is\n%s", again)
	}
	left := pgtest.Query[string](t, through, `
		SELECT concat_ws(' ', current_setting('search_path'), current_setting('row_security'), current_setting('check_function_bodies'))`)
	if left != "pg_catalog on on" {
		t.Errorf("left on the pooler's connection: %s", left)
	}
	purge(t, db, "acme")
	if _, err := pooled.Import(t.Context(), io.MultiReader(strings.NewReader(dump[:len(dump)/2]), then(func() error { return errBoom }))); !errors.Is(err, errBoom) {
		t.Errorf("half of it: %v", err)
	}
	wantAbsent(t, url, "acme")
}

// psql's command line shows no password, and a file in the home of whoever
// calls is not read. (t.Setenv: not parallel.)
func TestImport_HowPsqlIsCalled(t *testing.T) {
	_, db, dump := stocked(t)
	purge(t, db, "acme")
	psql, err := osexec.LookPath("psql")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	arguments, marker := filepath.Join(dir, "arguments"), filepath.Join(dir, "marker")
	write := func(name, content string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write(".psqlrc", `\! touch `+marker)
	write("psql", "#!/bin/sh\necho \"$@\" >"+arguments+"\nexec "+psql+` "$@"`)
	t.Setenv("HOME", dir)
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	if _, err := db.Import(t.Context(), strings.NewReader(dump)); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(marker); err == nil {
		t.Error(".psqlrc was read")
	}
	said, err := os.ReadFile(arguments)
	if err != nil || !strings.Contains(string(said), "acme") || strings.Contains(string(said), "postgres") {
		t.Errorf("%v: %s", err, said)
	}
	t.Setenv("PATH", "")
	purge(t, db, "acme")
	if _, err := db.Import(t.Context(), strings.NewReader(dump)); !errors.Is(err, tenancy.ErrNoPsql) {
		t.Errorf("without psql: %v", err)
	}
}

// An export that this program could not import is made all the same, and the log
// says so.
func TestExport_OfANewerTenantIsWarnedOf(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	for _, c := range []struct {
		tenant fs.FS
		warned bool
	}{
		{files("000001_a.up.sql", "CREATE TABLE a ()", "000002_b.up.sql", "CREATE TABLE b ()"), false},
		{files("000001_a.up.sql", "CREATE TABLE a ()"), true},
	} {
		var log bytes.Buffer
		db := open(t, tenancy.Options{URL: url, Tenant: c.tenant, Logger: slog.New(slog.NewTextHandler(&log, nil))})
		provision(t, db, "acme")
		log.Reset()
		export(t, db, "acme")
		if got := strings.Contains(log.String(), "cannot import this export"); got != c.warned {
			t.Errorf("warned: %v, want %v:\n%s", got, c.warned, &log)
		}
	}
}

// Half of a tenant's data is no export.
func TestExport_OfATenantThatIsBeingPurged(t *testing.T) {
	t.Parallel()
	url, db, _ := stocked(t)
	pgtest.Exec(t, url, `UPDATE public.tenants SET purging_since = now()`)
	if err := db.Export(t.Context(), slug(t, "acme"), io.Discard); !errors.Is(err, tenancy.ErrPurging) {
		t.Errorf("%v", err)
	}
}

// onFirst calls a function at the first write.
type onFirst struct {
	strings.Builder
	call func()
}

func (w *onFirst) Write(p []byte) (int, error) {
	if w.Len() == 0 {
		w.call()
	}
	return w.Builder.Write(p)
}

// What happens to the tenant while it is exported is in neither part, or in both.
func TestExport_IsOneSnapshot(t *testing.T) {
	t.Parallel()
	url, db, dump := stocked(t)
	out := onFirst{call: func() {
		pgtest.Exec(t, url, `DELETE FROM tenant_acme.parts; UPDATE public.tenants SET plan_type = 'later'`)
	}}
	if err := db.Export(t.Context(), slug(t, "acme"), &out); err != nil {
		t.Fatal(err)
	}
	if len(out.String()) < len(dump) || strings.Contains(out.String(), "later") {
		t.Errorf("%d bytes, want the %d of before:\n%.300s", out.Len(), len(dump), out.String())
	}
}
