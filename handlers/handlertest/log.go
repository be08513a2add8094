package handlertest

import (
	"bytes"
	"strings"
	"sync"
	"testing"
)

// Log keeps what many goroutines write; for Setup.Log.
type Log struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// lastOfLog is how much of a server's log a test that failed prints.
const lastOfLog = 32 << 10

// printWhenFailed prints the end of the log, but for health probes, should the
// test fail.
func (l *Log) printWhenFailed(t testing.TB, server string) {
	t.Cleanup(func() {
		if !t.Failed() {
			return
		}
		var told strings.Builder
		for line := range strings.Lines(l.String()) {
			if !strings.Contains(line, `"route":"/healthz"`) {
				told.WriteString(line)
			}
		}
		text := told.String()
		t.Logf("the log of %s:\n%s", server, text[max(0, len(text)-lastOfLog):])
	})
}
