// Package logs keeps the log from holding up the server.
package logs

import (
	"io"
	"sync"
	"time"
)

const (
	// DefaultSize is some thousands of lines.
	DefaultSize = 1 << 20
	// closePatience bounds the wait for a reader at the end of the process.
	closePatience = 2 * time.Second
)

// Buffer is a writer of lines that never blocks: they are written in the
// background, and where that falls behind by more than the buffer's size they
// are dropped and counted.
type Buffer struct {
	out    io.Writer
	size   int
	report func(dropped int64)
	wake   chan struct{} // closed by Close
	done   chan struct{} // closed when all is written

	mu             sync.Mutex
	pending        []byte
	dropped, total int64 // since the last report, and ever
	closed         bool
}

// NewBuffer returns a buffer in front of out that holds up to size bytes beside
// those that are being written. report is called when lines were dropped and
// out takes lines again; it may write to out. Close must be called.
func NewBuffer(out io.Writer, size int, report func(dropped int64)) *Buffer {
	b := &Buffer{out: out, size: size, report: report, wake: make(chan struct{}, 1), done: make(chan struct{})}
	go b.run()
	return b
}

// Write takes one line, or drops it. It never fails.
func (b *Buffer) Write(line []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed || len(b.pending)+len(line) > b.size {
		b.dropped++
		b.total++
		return len(line), nil
	}
	b.pending = append(b.pending, line...)
	select {
	case b.wake <- struct{}{}:
	default:
	}
	return len(line), nil
}

// Dropped is how many lines were dropped so far.
func (b *Buffer) Dropped() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.total
}

// Close writes what is pending, and gives up where nobody reads.
func (b *Buffer) Close() {
	b.mu.Lock()
	if !b.closed {
		b.closed = true
		close(b.wake)
	}
	b.mu.Unlock()
	select {
	case <-b.done:
	case <-time.After(closePatience):
	}
}

func (b *Buffer) run() {
	defer close(b.done)
	var spare []byte
	for range b.wake {
		spare = b.flush(spare)
	}
	b.flush(spare)
}

// flush writes what is pending, and returns its memory.
func (b *Buffer) flush(spare []byte) []byte {
	b.mu.Lock()
	lines, dropped := b.pending, b.dropped
	b.pending, b.dropped = spare[:0], 0
	b.mu.Unlock()
	if len(lines) > 0 {
		_, _ = b.out.Write(lines)
	}
	if dropped > 0 {
		b.report(dropped)
	}
	return lines
}
