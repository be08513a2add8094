package localpg

import (
	"bytes"
	"io"
	"os"
)

// truncate empties the log, so that it holds one life of the server.
func truncate(log string) error {
	f, err := os.OpenFile(log, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// tail is the end of the log, for an error.
func tail(log string) string {
	const most, lines = 4096, 15
	f, err := os.Open(log)
	if err != nil {
		return err.Error()
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil {
		_, _ = f.Seek(max(0, info.Size()-most), io.SeekStart)
	}
	content, _ := io.ReadAll(f)
	all := bytes.Split(bytes.TrimSpace(content), []byte("\n"))
	return string(bytes.Join(all[max(0, len(all)-lines):], []byte("\n")))
}
