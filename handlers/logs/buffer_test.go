package logs_test

import (
	"bufio"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"example.com/subproduct/handlers/handlertest"
	"example.com/subproduct/handlers/handlertest/fixture"
	"example.com/subproduct/handlers/logs"
)

// pipe is one that nobody reads until the test does.
func pipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close(); _ = w.Close() })
	return r, w
}

// The whole server goes on while nobody reads its log, and says how many lines
// are missing when somebody does again.
func TestBuffer_AReaderThatStallsDoesNotStopTheServer(t *testing.T) {
	t.Parallel()
	r, w := pipe(t)
	buffer := logs.NewBuffer(w, 4096, func(dropped int64) { fmt.Fprintf(w, "%d dropped\n", dropped) })
	t.Cleanup(buffer.Close)
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{Log: buffer})
	b := site.Browser(t)
	handlertest.Await(t, "the pipe and the buffer are full", func() bool {
		if answer := b.Get("/"); answer.Status != http.StatusOK {
			t.Fatalf("%d", answer.Status)
		}
		return buffer.Dropped() > 0
	})
	for range 20 {
		began := time.Now()
		if answer := b.Get("/"); answer.Status != http.StatusOK || time.Since(began) > 5*time.Second {
			t.Fatalf("%d after %v", answer.Status, time.Since(began))
		}
	}
	lines, reported := bufio.NewScanner(r), int64(0)
	for reported == 0 && lines.Scan() {
		_, _ = fmt.Sscanf(lines.Text(), "%d dropped", &reported)
	}
	if reported == 0 || reported > buffer.Dropped() {
		t.Errorf("reported %d of %d, %v", reported, buffer.Dropped(), lines.Err())
	}
}

// What was written before Close is there after it, line by line and in order.
func TestBuffer_CloseWritesWhatIsPending(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	buffer, want := logs.NewBuffer(&out, logs.DefaultSize, func(int64) {}), ""
	for i := range 1000 {
		line := fmt.Sprintf("line %d\n", i)
		want += line
		fmt.Fprint(buffer, line)
	}
	buffer.Close()
	if out.String() != want || buffer.Dropped() != 0 {
		t.Errorf("%d bytes of %d, %d dropped", out.Len(), len(want), buffer.Dropped())
	}
}

// The end of the process does not wait for ever for a reader.
func TestBuffer_CloseGivesUp(t *testing.T) {
	t.Parallel()
	_, w := pipe(t)
	fillPipe(t, w)
	buffer := logs.NewBuffer(w, logs.DefaultSize, func(int64) {})
	fmt.Fprintln(buffer, "the last word")
	began := time.Now()
	buffer.Close()
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("it took %v", took)
	}
}

func fillPipe(t *testing.T, w *os.File) {
	t.Helper()
	if err := w.SetWriteDeadline(time.Now().Add(50 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(make([]byte, 1<<22)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("the pipe takes all: %v", err)
	}
	if err := w.SetWriteDeadline(time.Time{}); err != nil {
		t.Fatal(err)
	}
}
