package server_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/labstack/echo/v4"

	"example.com/subproduct/handlers/handlertest"
	"example.com/subproduct/handlers/handlertest/fixture"
	"example.com/subproduct/handlers/platform"
	"example.com/subproduct/handlers/server"
)

// The test binary is a server when it is told so: real processes, that a test
// can signal.
func TestMain(m *testing.M) {
	if os.Getenv("TEST_AS_SERVER") == "" {
		os.Exit(m.Run())
	}
	go func() { _, _ = io.Copy(io.Discard, os.Stdin); os.Exit(3) }() // our parent is gone
	ctx, stop := server.Signals(context.Background())
	err := server.CLI{Product: fixture.With(work), Env: os.LookupEnv}.Serve(ctx, nil)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// work adds a request that takes a moment, and one that says so in the log.
func work(r server.Routes) {
	r.Public.POST("/say", func(c echo.Context) error {
		slog.InfoContext(c.Request().Context(), "said by the product")
		return c.NoContent(http.StatusOK)
	})
	r.Public.POST("/work", func(c echo.Context) error {
		err := r.DB.InShared(c.Request().Context(), func(tx pgx.Tx) error {
			_, err := tx.Exec(c.Request().Context(), `SELECT pg_sleep(0.02)`)
			return err
		})
		if err != nil {
			return err
		}
		return c.NoContent(http.StatusOK)
	})
}

// process is a server in a process of its own.
type process struct {
	cmd   *exec.Cmd
	url   string
	ended chan struct{} // closed when it is gone
	mu    sync.Mutex
	log   bytes.Buffer
}

func (p *process) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log.Write(b)
}

func (p *process) text() string { p.mu.Lock(); defer p.mu.Unlock(); return p.log.String() }

const processSecret = "secret-of-the-processes"

// startProcess starts a server that listens, and may end at any time.
func startProcess(t *testing.T, database string, env ...string) *process {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &process{cmd: exec.Command(exe), ended: make(chan struct{})}
	p.cmd.Dir, p.cmd.Stdout, p.cmd.Stderr = t.TempDir(), p, p
	p.cmd.Env = append(os.Environ(), "TEST_AS_SERVER=1", "LISTEN_ADDR=127.0.0.1:0", "DATABASE_URL="+database, "APP_SLUG=app", "PUBLIC_URL=http://127.0.0.1",
		"PLATFORM_URL=http://127.0.0.1:1", "PLATFORM_BASE_URL=http://127.0.0.1:1", "PLATFORM_API_KEY=key-of-the-processes",
		"WEBHOOK_SECRET="+processSecret, "FIXTURE_GREETING=Hello")
	p.cmd.Env = append(p.cmd.Env, env...)
	stdin, err := p.cmd.StdinPipe() // it ends with us
	if err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = p.cmd.Wait(); close(p.ended) }()
	t.Cleanup(func() {
		_ = stdin.Close()
		_ = p.cmd.Process.Kill()
		<-p.ended
		if t.Failed() {
			t.Logf("the log of %s:\n%s", p.url, p.text())
		}
	})
	p.url = "http://" + p.match(t, `"address":"([^"]+)"`)
	return p
}

// match waits until the log matches, and returns the expression's first group.
func (p *process) match(t *testing.T, expression string) (group string) {
	t.Helper()
	re := regexp.MustCompile(expression)
	handlertest.Await(t, "the log matches "+expression, func() bool {
		m := re.FindStringSubmatch(p.text())
		if m != nil {
			group = m[len(m)-1]
		}
		return m != nil
	})
	return group
}

// awaitStatus waits until the path answers with the status.
func (p *process) awaitStatus(t *testing.T, path string, want int) {
	t.Helper()
	handlertest.Await(t, fmt.Sprintf("%s answers %d", path, want), func() bool { return status(p.url+path) == want })
}

// signal sends a signal, which the process may take its time to follow.
func (p *process) signal(t *testing.T, s os.Signal) {
	t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

// exit waits for the process's end, and returns its exit code; -1 where a
// signal has ended it.
func (p *process) exit(t *testing.T, timeout time.Duration) int {
	t.Helper()
	select {
	case <-p.ended:
	case <-time.After(timeout):
		t.Fatalf("it is still there after %v", timeout)
	}
	return p.cmd.ProcessState.ExitCode()
}

// status is 0 where nobody answers.
func status(url string) int {
	response, err := http.Get(url)
	if err != nil {
		return 0
	}
	response.Body.Close()
	return response.StatusCode
}

// signed is a delivery of an event.
func signed(url, body string) (*http.Request, error) {
	request, err := http.NewRequest(http.MethodPost, url+"/webhooks/platform", bytes.NewReader([]byte(body)))
	if err == nil {
		request.Header.Set(platform.SignatureHeader, platform.Sign(processSecret, []byte(body)))
	}
	return request, err
}
