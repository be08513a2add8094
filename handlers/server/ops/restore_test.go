package ops_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"example.com/subproduct/handlers/handlertest"
	"example.com/subproduct/handlers/handlertest/fixture"
	"example.com/subproduct/handlers/server"
	"example.com/subproduct/tenancy/localpg"
	"example.com/subproduct/tenancy/localpg/pgtest"
)

// The test binary is the program itself when it is told so, as far as restore.md
// calls it.
func TestMain(m *testing.M) {
	if os.Getenv("TEST_AS_PROGRAM") == "" {
		os.Exit(m.Run())
	}
	c := server.CLI{Product: fixture.Product(), Env: os.LookupEnv, Stdout: os.Stdout}
	commands := map[string]func(context.Context, []string) error{"tenants": c.Tenants, "migrate": c.Migrate}
	if err := commands[os.Args[1]](context.Background(), os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// harness is where an operator types the commands of restore.md.
type harness struct {
	dir string
	env []string
}

// newHarness is a harness with the program on its PATH; env are names and values.
func newHarness(t *testing.T, env ...string) harness {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	d := harness{dir: t.TempDir(), env: append([]string{"FIXTURE_GREETING=Hello", "HOME=/nowhere"}, env...)}
	script := fmt.Sprintf("#!/bin/sh\nTEST_AS_PROGRAM=1 exec %s \"$@\"\n", program)
	if err := os.WriteFile(filepath.Join(d.dir, "app"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	servers, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	d.env = append(d.env, "PATH="+strings.Join(append([]string{d.dir, os.Getenv("PATH")}, servers...), ":"))
	return d
}

// recipe is the commands that stand under a heading of restore.md; with more
// than one block the n-th.
func recipe(t *testing.T, heading string, n int) string {
	t.Helper()
	return commands(t, "restore.md", heading, n)
}

// commands is recipe for any file of this folder.
func commands(t *testing.T, file, heading string, n int) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(text), "\n## "+heading+"\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var blocks []string
	for block := range strings.SplitSeq(section, "\n\n") {
		if block = strings.TrimLeft(block, "\n"); strings.HasPrefix(block, "    ") {
			blocks = append(blocks, strings.ReplaceAll(block, "\n    ", "\n"))
		}
	}
	if !found || n >= len(blocks) {
		t.Fatalf("%s has no block %d under %q", file, n, heading)
	}
	return strings.TrimSpace(blocks[n]) + "\n"
}

func (d harness) shell(script string) *exec.Cmd {
	c := exec.Command("/bin/sh", "-euc", script)
	c.Dir, c.Env = d.dir, d.env
	return c
}

// follow runs a recipe of one block.
func (d harness) follow(t *testing.T, heading string, n int) {
	t.Helper()
	if out, err := d.shell(recipe(t, heading, n)).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", heading, err, out)
	}
}

func addItem(t *testing.T, b *handlertest.Browser, label string) {
	t.Helper()
	if answer := b.API(http.MethodPost, "/api/items", fmt.Sprintf(`{"label":%q}`, label)); answer.Status != http.StatusCreated {
		t.Fatalf("%d %s", answer.Status, answer.Body)
	}
}

// wantItems wants a tenant's labels, oldest first, as who is signed in sees them.
func wantItems(t *testing.T, b *handlertest.Browser, want ...string) {
	t.Helper()
	var answer struct{ Items []struct{ Label string } }
	b.API(http.MethodGet, "/api/items", "").JSON(t, &answer)
	var got []string
	for _, item := range answer.Items {
		got = append([]string{item.Label}, got...)
	}
	if strings.Join(got, ",") != strings.Join(want, ",") {
		t.Errorf("the items are %q, want %q", got, want)
	}
}

func TestRestore_OneTenantThereAndBack(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{})
	addItem(t, site.SignIn(t, "acme"), "it's \"here\"")
	newHarness(t, "DATABASE_URL="+site.Database).follow(t, "One tenant, there and back", 0)
	b := site.SignIn(t, "acme")
	addItem(t, b, "next")
	wantItems(t, b, "it's \"here\"", "next")
}

// The tenant is as it was, the others as they are.
func TestRestore_OneTenantOutOfAFullDump(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{})
	other := site.SignIn(t, "other")
	addItem(t, site.SignIn(t, "acme"), "kept")
	addItem(t, other, "before")
	d := newHarness(t, "DATABASE_URL="+site.Database, "DIRECT="+site.Database, "SCRATCH="+pgtest.URL(t))
	d.follow(t, "A full dump", 0)
	addItem(t, other, "after")
	site.TenantExec(t, "acme", `DELETE FROM items; DROP TABLE origins`)
	d.follow(t, "One tenant out of a full dump", 0)
	wantItems(t, site.SignIn(t, "acme"), "kept")
	wantItems(t, other, "before", "after")
	if out, err := d.shell("app migrate --drift").CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

// Who was signed in goes on, without a word of the platform.
func TestRestore_AFullDumpElsewhereServesAtOnce(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{})
	b := site.SignIn(t, "acme")
	addItem(t, b, "kept")
	d := newHarness(t, "DATABASE_URL="+site.Database, "DIRECT="+site.Database, "ELSEWHERE="+pgtest.URL(t))
	d.follow(t, "A full dump", 0)
	addItem(t, b, "after")
	d.follow(t, "A full dump, elsewhere", 0)
	elsewhere := handlertest.Start(t, fixture.Product(), handlertest.Setup{Database: strings.TrimPrefix(d.env[4], "ELSEWHERE=")})
	there := b.At(elsewhere)
	wantItems(t, there, "kept")
	addItem(t, there, "next")
	wantItems(t, there, "kept", "next")
	wantItems(t, elsewhere.SignIn(t, "new"))
}

func TestRestore_ACopyForSupport(t *testing.T) {
	t.Parallel()
	production := handlertest.Start(t, fixture.Product(), handlertest.Setup{})
	development := handlertest.Start(t, fixture.Product(), handlertest.Setup{})
	addItem(t, production.SignIn(t, "acme"), "seen")
	newHarness(t, "DATABASE_URL="+production.Database, "DEV="+development.Database).follow(t, "A copy for support", 0)
	wantItems(t, development.SignIn(t, "acme"), "seen")
}

// What was written until the moment is there, and nothing of later.
func TestRestore_APointInTime(t *testing.T) {
	t.Parallel()
	const heading = "A point in time"
	backup := shared(t)
	archive := map[string]string{}
	for line := range strings.Lines(recipe(t, heading, 0)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " = ")
		archive[name] = strings.ReplaceAll(strings.Trim(value, "'"), "/backup", backup)
	}
	pg, err := localpg.Start(t.Context(), localpg.Options{Fast: true, Params: archive})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pg.Stop() })
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{Database: pg.URL("postgres")})
	b := site.SignIn(t, "acme")
	addItem(t, b, "before the backup")
	restored := url.URL{Scheme: "postgres", User: url.User("postgres"), Path: "/postgres", RawQuery: url.Values{"host": {backup}, "port": {"5433"}, "sslmode": {"disable"}}.Encode()}
	d := newHarness(t, "DATABASE_URL="+site.Database, "DIRECT="+site.Database, "BACKUP="+backup, "RESTORED="+restored.String(),
		"LISTEN=-p 5433 -c listen_addresses= -c unix_socket_directories="+backup)
	postgres := d.asPostgres(t, backup)
	postgres.run(t, recipe(t, heading, 1))
	addItem(t, b, "after the backup")
	postgres.env = append(postgres.env, "MOMENT="+handlertest.Query[string](t, site, `SELECT clock_timestamp()::text`))
	site.TenantExec(t, "acme", `DELETE FROM items`)
	segment := handlertest.Query[string](t, site, `SELECT pg_walfile_name(pg_switch_wal())`)
	handlertest.Await(t, "the log is archived", func() bool {
		_, err := os.Stat(filepath.Join(backup, "wal", segment))
		return err == nil
	})
	postgres.run(t, recipe(t, heading, 2))
	d.follow(t, heading, 3)
	for _, word := range []string{"cancel acme", "purge acme --yes", "import acme.sql"} {
		if out, err := d.shell("app tenants " + word).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", word, err, out)
		}
	}
	wantItems(t, site.SignIn(t, "acme"), "before the backup", "after the backup")
}

// shared is a folder for backups, with a short name, for a socket's path has at
// most 107 bytes, which PostgreSQL's user may write to.
func shared(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "pitr")
	if err == nil {
		t.Cleanup(func() { _ = os.RemoveAll(dir) })
		err = errors.Join(os.Mkdir(filepath.Join(dir, "wal"), 0o755), os.Chmod(dir, 0o777), os.Chmod(filepath.Join(dir, "wal"), 0o777))
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// operator is who runs PostgreSQL itself: the user postgres, where we are root.
type operator struct {
	harness
	credential *syscall.Credential
}

func (d harness) asPostgres(t *testing.T, dir string) *operator {
	t.Helper()
	o := &operator{harness: d}
	o.dir = dir
	if os.Geteuid() != 0 {
		return o
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		t.Skip("nobody to run PostgreSQL as")
	}
	uid, _ := strconv.Atoi(u.Uid)
	gid, _ := strconv.Atoi(u.Gid)
	o.credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	return o
}

// run runs commands. A server that they start ends with this process, however
// that comes about: the shell's standard input ends then.
func (o *operator) run(t *testing.T, commands string) {
	t.Helper()
	const untilTheEnd = "touch done; cat >/dev/null; if test -d restored; then pg_ctl stop --mode=immediate --pgdata=restored; fi"
	c := o.shell(commands + untilTheEnd)
	c.SysProcAttr = &syscall.SysProcAttr{Credential: o.credential}
	said, err := os.Create(filepath.Join(t.TempDir(), "said"))
	if err != nil {
		t.Fatal(err)
	}
	defer said.Close()
	c.Stdout, c.Stderr = said, said
	stdin, err := c.StdinPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { defer close(ended); _ = c.Wait() }()
	t.Cleanup(func() { _ = stdin.Close(); <-ended })
	done := filepath.Join(o.dir, "done")
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if os.Remove(done) == nil {
			return
		}
		select {
		case <-ended:
		default:
			if time.Now().Before(deadline) {
				continue
			}
		}
		text, _ := os.ReadFile(said.Name())
		log, _ := os.ReadFile(filepath.Join(o.dir, "restored.log"))
		t.Fatalf("%s\n%s\n%s", commands, text, log)
	}
}
