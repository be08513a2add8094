package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"example.com/subproduct/handlers/handlertest/fixture"
	"example.com/subproduct/handlers/server"
	"example.com/subproduct/tenancy/commands/flags"
	"example.com/subproduct/tenancy/localpg/pgtest"
)

// The test binary is the program itself when it is told so: real processes,
// that a test can signal and kill.
func TestMain(m *testing.M) {
	if os.Getenv("TEST_AS_PROGRAM") != "" {
		os.Exit(execute(fixture.Product()))
	}
	os.Exit(m.Run())
}

// process is a run of the program.
type process struct {
	*exec.Cmd
	mu     sync.Mutex
	output bytes.Buffer // standard output and error
}

func (p *process) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.output.Write(b)
}
func (p *process) text() string { p.mu.Lock(); defer p.mu.Unlock(); return p.output.String() }

func start(t *testing.T, dir string, env []string, args ...string) *process {
	t.Helper()
	return startInto(t, nil, dir, env, args...)
}

// startInto has its standard output go elsewhere.
func startInto(t *testing.T, elsewhere io.Writer, dir string, env []string, args ...string) *process {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &process{Cmd: exec.Command(exe, args...)}
	p.Dir, p.Stdout, p.Stderr = dir, p, p
	if elsewhere != nil {
		p.Stdout = elsewhere
	}
	p.Env = append([]string{"TEST_AS_PROGRAM=1", "PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME")}, env...)
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Process.Kill(); _ = p.Wait() })
	return p
}

// match waits until the output matches, and returns the expression's groups.
func (p *process) match(t *testing.T, expression string) []string {
	t.Helper()
	re := regexp.MustCompile(expression)
	var m []string
	await(t, func() bool { m = re.FindStringSubmatch(p.text()); return m != nil }, func() string { return "no " + expression + " in:\n" + p.text() })
	return m
}

func await(t *testing.T, condition func() bool, otherwise func() string) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !condition(); {
		if time.Now().After(deadline) {
			t.Fatal(otherwise())
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func (p *process) end(t *testing.T, signal syscall.Signal) int {
	t.Helper()
	if err := p.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
	_ = p.Wait()
	return p.ProcessState.ExitCode()
}

func status(url string) int {
	response, err := http.Get(url)
	if err != nil {
		return 0
	}
	defer response.Body.Close()
	return response.StatusCode
}

func TestUsage_AWrongCallOrConfigurationExitsWith2(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, c := range []struct {
		args []string
		want []string
	}{
		{nil, []string{"DATABASE_URL", "APP_SLUG", "PUBLIC_URL", "PLATFORM_URL", "PLATFORM_BASE_URL", "PLATFORM_API_KEY", "WEBHOOK_SECRET", "FIXTURE_GREETING", ".env.example"}},
		{[]string{"nonsense"}, []string{"nonsense", "usage", "serve"}},
		{[]string{"serve", "now"}, []string{"now"}},
		{[]string{"version", "foo"}, []string{"foo"}},
		{[]string{"dev", "--nonsense"}, []string{"nonsense", "--app-addr"}},
		{[]string{"healthcheck"}, nil},
	} {
		p := start(t, dir, []string{"LISTEN_ADDR=nonsense"}, c.args...)
		_ = p.Wait()
		if code := p.ProcessState.ExitCode(); code != 2 {
			t.Errorf("%v: exit %d, want 2", c.args, code)
		}
		for _, want := range c.want {
			if !strings.Contains(p.text(), strings.TrimPrefix(want, "-")) {
				t.Errorf("%v: no %s in\n%s", c.args, want, p.text())
			}
		}
	}
}

// An error may quote what others wrote.
func TestUsage_AnErrorLeavesTheTerminalAlone(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir(), nil, "version", "--\x1b]0;owned\a")
	_ = p.Wait()
	if text := p.text(); strings.ContainsAny(text, "\x1b\a") || !strings.Contains(text, `\x1b]0;owned\a`) {
		t.Errorf("%q", text)
	}
}

func TestUsage_ABadLineOfDotEnvHidesNoOtherSetting(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, ".env"), []byte("APP_SLUG=app\nWEBHOOK SECRET hunter2\nLOG_LEVEL=loud\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := start(t, dir, nil)
	_ = p.Wait()
	if code := p.ProcessState.ExitCode(); code != 2 {
		t.Errorf("exit %d, want 2", code)
	}
	for _, want := range []string{".env:2:", "LOG_LEVEL must be", "DATABASE_URL is not set"} {
		if !strings.Contains(p.text(), want) {
			t.Errorf("no %q in\n%s", want, p.text())
		}
	}
	if strings.Contains(p.text(), "APP_SLUG") || strings.Contains(p.text(), "hunter2") {
		t.Errorf("a good setting is named, or a secret shown:\n%s", p.text())
	}
}

func TestUsage_AWrongFlagIsSaidOnce(t *testing.T) {
	t.Parallel()
	env := []string{"DATABASE_URL=postgres://nobody@127.0.0.1:1/x", "FIXTURE_GREETING=Hello", "WEBHOOK_SECRET=x"}
	for _, args := range [][]string{{"migrate", "--max-failures", "x"}, {"events", "list", "--limit", "x"}, {"send-event", "--too", "x"}} {
		p := start(t, t.TempDir(), env, args...)
		_ = p.Wait()
		said := strings.Count(p.text(), "invalid value") + strings.Count(p.text(), "not defined")
		if code := p.ProcessState.ExitCode(); code != 2 || said != 1 || strings.Count(p.text(), "usage: "+args[0]) != 1 {
			t.Errorf("%v: exit %d, said %d times:\n%s", args, code, said, p.text())
		}
	}
}

func TestUsage_HelpAndVersion(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"help"}, {"version"}} {
		var out strings.Builder
		if err := run(t.Context(), fixture.Product(), args, func(string) (string, bool) { return "", false }, &out); err != nil || out.String() == "" {
			t.Errorf("%v: %q, %v", args, out.String(), err)
		}
	}
}

// Every command has a help, which needs no configuration; the product's own
// commands are listed beside the template's.
func TestCommands_OfTheProductMayNotHaveATemplatesName(t *testing.T) {
	t.Parallel()
	p := server.Product{Name: "x", Slug: "x", Commands: []server.Command{{Name: "migrate"}, {Name: "own", Run: func(context.Context, server.Call) error { return nil }}}}
	none := func(string) (string, bool) { return "", false }
	if err := run(t.Context(), p, []string{"migrate", "--help"}, none, io.Discard); !errors.Is(err, flags.ErrUsage) || !strings.Contains(err.Error(), "migrate") {
		t.Errorf("%v, want ErrUsage that names it", err)
	}
}

func TestHelp_OfEveryCommand(t *testing.T) {
	t.Parallel()
	nothing := func(string) (string, bool) { return "", false }
	var listed strings.Builder
	if err := run(t.Context(), fixture.Product(), []string{"help"}, nothing, &listed); err != nil {
		t.Fatal(err)
	}
	all := table(server.CLI{Product: fixture.Product()})
	if last := all[len(all)-1].name; last != "count-items" {
		t.Errorf("the last command is %s, want the product's own", last)
	}
	for _, c := range all {
		if !strings.Contains(listed.String(), c.name) {
			t.Errorf("%s is not listed", c.name)
		}
		var out strings.Builder
		err := run(t.Context(), fixture.Product(), []string{c.name, "--help"}, nothing, &out)
		if err != nil && !errors.Is(err, flag.ErrHelp) || out.String() == "" {
			t.Errorf("%s --help: %v, %q", c.name, err, out.String())
		}
	}
	p := start(t, t.TempDir(), nil, "tenants", "--help")
	if err := p.Wait(); err != nil || !strings.Contains(p.text(), "-yes") {
		t.Errorf("tenants --help: %v\n%s", err, p.text())
	}
}

// Output that cannot be written is lost: no command ends as if it was read.
func TestOutput_ThatCannotBeWrittenIsAFailure(t *testing.T) {
	t.Parallel()
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("there is no device that is always full:", err)
	}
	defer full.Close()
	env := []string{"DATABASE_URL=" + pgtest.URL(t), "FIXTURE_GREETING=Hello"}
	for _, args := range []string{
		"help", "version", "migrate --help", "migrate", "migrate --status", "tenants provision acme", "tenants list", "tenants cancel acme", "tenants restore acme",
	} {
		p := startInto(t, full, t.TempDir(), env, strings.Fields(args)...)
		_ = p.Wait()
		if code := p.ProcessState.ExitCode(); code != 1 || !strings.Contains(p.text(), "no space left on device") {
			t.Errorf("%s: exit %d, want 1 and why: %s", args, code, p.text())
		}
	}
}

func serveEnv(databaseURL string) []string {
	return []string{
		"DATABASE_URL=" + databaseURL, "LISTEN_ADDR=127.0.0.1:0", "APP_SLUG=app", "PUBLIC_URL=http://127.0.0.1", "PLATFORM_URL=http://127.0.0.1:1",
		"PLATFORM_BASE_URL=http://127.0.0.1:1", "PLATFORM_API_KEY=key-of-the-test", "WEBHOOK_SECRET=secret-of-the-test", "FIXTURE_GREETING=Hello",
		"DRAIN_DELAY=200ms",
	}
}

func TestServe_StartsAndStops(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	for signal, delay := range map[syscall.Signal]string{syscall.SIGTERM: "200ms", syscall.SIGINT: "0s"} {
		p := start(t, t.TempDir(), serveEnv(url))
		address := p.match(t, `"address":"([^"]+)"`)[1]
		await(t, func() bool { return status("http://"+address+"/healthz") == http.StatusOK }, p.text)
		check := start(t, t.TempDir(), []string{"LISTEN_ADDR=" + address}, "healthcheck")
		if err := check.Wait(); err != nil {
			t.Errorf("healthcheck: %v\n%s", err, check.text())
		}
		if code := p.end(t, signal); code != 0 {
			t.Errorf("%v: exit %d\n%s", signal, code, p.text())
		}
		p.match(t, `"draining","delay":"`+delay+`"`)
		check = start(t, t.TempDir(), []string{"LISTEN_ADDR=" + address}, "healthcheck")
		if _ = check.Wait(); check.ProcessState.ExitCode() != 1 {
			t.Errorf("healthcheck without a server: exit %d, want 1", check.ProcessState.ExitCode())
		}
	}
}

func TestServe_ReadsDotEnv(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/.env", []byte(strings.Join(serveEnv(pgtest.URL(t)), "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	p := start(t, dir, nil, "serve")
	address := p.match(t, `"address":"([^"]+)"`)[1]
	await(t, func() bool { return status("http://"+address+"/healthz") == http.StatusOK }, p.text)
}

// A database that is down is waited for; one that refuses is an error.
func TestServe_WithoutADatabase(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir(), serveEnv("postgres://postgres@127.0.0.1:1/x"))
	address := p.match(t, `"address":"([^"]+)"`)[1]
	p.match(t, "waiting for the database")
	var asked sync.WaitGroup
	for path, want := range map[string]int{"/healthz": 503, "/livez": 200, "/readyz": 503, "/items": 503, "/": 503} {
		asked.Go(func() { // some wait
			if got := status("http://" + address + path); got != want {
				t.Errorf("%s: %d, want %d", path, got, want)
			}
		})
	}
	response, err := http.Get("http://" + address + "/sso/callback?code=x")
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != http.StatusServiceUnavailable || response.Header.Get("Referrer-Policy") != "no-referrer" {
		t.Errorf("the callback: %d, Referrer-Policy %q", response.StatusCode, response.Header.Get("Referrer-Policy"))
	}
	asked.Wait()
	if code := p.end(t, syscall.SIGTERM); code != 0 {
		t.Errorf("exit %d", code)
	}
	refused := start(t, t.TempDir(), serveEnv(strings.Replace(pgtest.URL(t), "/test_", "/not_there_", 1)))
	if _ = refused.Wait(); refused.ProcessState.ExitCode() != 1 || !strings.Contains(refused.text(), "not_there_") {
		t.Errorf("exit %d: %s", refused.ProcessState.ExitCode(), refused.text())
	}
}

// dev on an empty machine: ready, killed hard, ready again with its data, next
// to a second copy, and no process is left behind.
func TestDev(t *testing.T) {
	t.Parallel()
	dir := pgtest.Dir(t)
	first := startDev(t, dir)
	await(t, func() bool { return status(first.app+"/") == 200 && status(first.console+"/") == 200 }, first.text)
	second := startDev(t, dir)
	if !strings.Contains(second.text(), "copy2") {
		t.Errorf("a second copy beside the first has no data folder of its own:\n%s", second.text())
	}
	if code := second.end(t, syscall.SIGINT); code != 0 {
		t.Errorf("exit %d\n%s", code, second.text())
	}
	second.awaitNothingLeft(t)

	first.end(t, syscall.SIGKILL)
	first.awaitNothingLeft(t)
	again := startDev(t, dir)
	if n := count(t, again.database, `SELECT count(*) FROM public.tenants`); n != 2 {
		t.Errorf("%d tenants after a restart, want the 2 of before", n)
	}
	if code := again.end(t, syscall.SIGTERM); code != 0 {
		t.Errorf("exit %d\n%s", code, again.text())
	}
	again.awaitNothingLeft(t)
}

// `go run` passes no signal on: when it is killed, what it started ends itself.
func TestDev_EndsWithGoRun(t *testing.T) {
	t.Parallel()
	dir := pgtest.Dir(t)
	var out process
	goRun := exec.Command("go", "run", ".", "dev", "--app-addr", "127.0.0.1:0", "--platform-addr", "127.0.0.1:0", "--data", dir)
	goRun.Stdout, goRun.Stderr = &out, &out
	out.Cmd = goRun
	if err := goRun.Start(); err != nil {
		t.Fatal(err)
	}
	m := out.match(t, addresses)
	if err := goRun.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	(&devRun{&out, m[1], m[2], m[3]}).awaitNothingLeft(t)
	await(t, func() bool { return status(m[1]+"/livez") == 0 }, func() string { return "the app still answers" })
}

type devRun struct {
	*process
	app, console, database string
}

// addresses are what dev prints: the app, the console, the database.
const addresses = `(http://[0-9.:]+)/ [^\n]*\n +(http://[0-9.:]+)/ [^\n]*\n[^']+'([^']+)'`

func startDev(t *testing.T, dir string) *devRun {
	t.Helper()
	p := start(t, dir, nil, "dev", "--app-addr", "127.0.0.1:0", "--platform-addr", "127.0.0.1:0")
	m := p.match(t, addresses)
	return &devRun{p, m[1], m[2], m[3]}
}

// awaitNothingLeft waits until no process has the database's socket directory
// in its command line.
func (d *devRun) awaitNothingLeft(t *testing.T) {
	t.Helper()
	socket := regexp.MustCompile(`host=([^&]+)`).FindStringSubmatch(d.database)[1]
	socket = strings.ReplaceAll(socket, "%2F", "/")
	left := func() string {
		out, err := exec.Command("ps", "-eo", "pid,args").Output()
		if err != nil {
			t.Fatal(err)
		}
		var found []string
		for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
			if strings.Contains(lines.Text(), socket) {
				found = append(found, lines.Text())
			}
		}
		return strings.Join(found, "\n")
	}
	await(t, func() bool { return left() == "" }, func() string { return "left behind:\n" + left() })
}

// behind makes n tenants that are registered and have an empty schema: as far
// behind as one can be.
func behind(t *testing.T, url string, n int) {
	t.Helper()
	p := start(t, t.TempDir(), []string{"DATABASE_URL=" + url, "FIXTURE_GREETING=Hello"}, "migrate")
	if err := p.Wait(); err != nil {
		t.Fatal(p.text())
	}
	for at := 0; at < n; at += 200 {
		execSQL(t, url, fmt.Sprintf(`
			INSERT INTO public.tenants (slug, schema_version) SELECT 't' || i, 0 FROM generate_series(%[1]d, %[2]d) i;
			DO $$ BEGIN FOR i IN %[1]d..%[2]d LOOP EXECUTE 'CREATE SCHEMA tenant_t' || i; END LOOP; END $$`, at, at+199))
	}
}

func execSQL(t *testing.T, url, sql string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if _, err := conn.Exec(t.Context(), sql); err != nil {
		t.Fatal(err)
	}
}

// With --json who was not compared is on standard error: the document keeps its
// shape.
func TestMigrate_DriftAsJSONSaysWhoWasNotCompared(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	behind(t, url, 1)
	var document bytes.Buffer
	p := startInto(t, &document, t.TempDir(), []string{"DATABASE_URL=" + url, "FIXTURE_GREETING=Hello"}, "migrate", "--drift", "--json")
	if err := p.Wait(); err != nil || document.String() != "[]\n" || !strings.Contains(p.text(), "behind: 200;") {
		t.Errorf("%v: %s and on standard error %s", err, &document, p.text())
	}
}

// 2,000 tenants of which one is broken, and a `migrate` that is killed ten
// times: each tenant is at its old or its new version at any moment, and in the
// end all are as an undisturbed run makes them.
func TestMigrate_IsKilledAgainAndAgain(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	env := []string{"DATABASE_URL=" + url, "FIXTURE_GREETING=Hello"}
	behind(t, url, 2000)
	execSQL(t, url, `CREATE TABLE tenant_t777.items (broken int)`)
	for range 10 {
		before := count(t, url, `SELECT count(*) FROM public.tenants WHERE schema_version > 0`)
		p := start(t, t.TempDir(), env, "migrate", "--jobs", "2")
		enough := before + 1 + rand.IntN(150)
		await(t, func() bool {
			return count(t, url, `SELECT count(*) FROM public.tenants WHERE schema_version > 0`) >= enough
		}, p.text)
		p.end(t, syscall.SIGKILL)
		if n := count(t, url, halfMigrated); n != 0 {
			t.Fatalf("%d tenants are half migrated", n)
		}
	}
	p := start(t, t.TempDir(), env, "migrate", "--json")
	_ = p.Wait()
	if p.ProcessState.ExitCode() != 1 || !strings.Contains(p.text(), `"slug": "t777"`) || !strings.Contains(p.text(), "already exists") {
		t.Errorf("with one broken: exit %d\n%s", p.ProcessState.ExitCode(), p.text())
	}
	if n := count(t, url, `SELECT count(*) FROM public.tenants WHERE schema_version > 0`); n != 1999 {
		t.Errorf("%d are up, want 1999", n)
	}
	execSQL(t, url, `DROP TABLE tenant_t777.items`)
	p = start(t, t.TempDir(), env, "migrate", "--json")
	if err := p.Wait(); err != nil || !strings.Contains(p.text(), `"migrated": 1,`) || !strings.Contains(p.text(), `"unchanged": 1999`) {
		t.Errorf("after the repair: %v\n%s", err, p.text())
	}
	if p = start(t, t.TempDir(), env, "migrate", "--drift"); p.Wait() != nil {
		t.Errorf("catalogs differ from an undisturbed run:\n%s", p.text())
	}
}

// halfMigrated counts tenants whose version and tables disagree. It reads the
// catalog as a table: the functions that look names up see what was committed
// after the query began, by the backend of the process that was killed.
const halfMigrated = `
	SELECT count(*) FROM public.tenants t
	WHERE slug <> 't777' AND (schema_version > 0) <> EXISTS (
		SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
		WHERE n.nspname = 'tenant_' || t.slug AND c.relname = 'items')`

func count(t *testing.T, url, sql string) (n int) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if err := conn.QueryRow(t.Context(), sql).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}
