package tenancy

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Errors of a file that is given to Import.
var (
	ErrNotExported = errors.New("this is no file that `tenants export` has written: its first line names no tenant (one that an earlier version wrote is exported again)")
	ErrCutOff      = errors.New("the file is cut off: its last line is missing; export the tenant again")
)

const (
	firstWords = "-- Exported tenant: "
	lastWords  = "-- End of tenant "
	// maxFirstLine bounds what is read of a file that may be anything.
	maxFirstLine = 64 << 10
)

// writeExported writes an export: the tenant's registry row, what dump writes, and
// a last line, by which Import knows that nothing is missing.
func writeExported(w io.Writer, t Tenant, dump func() error) error {
	row, err := json.Marshal(t)
	if err == nil {
		_, err = fmt.Fprintf(w, "%s%s\n-- `tenants import FILE` brings it back.\n\n", firstWords, row)
	}
	if err == nil {
		err = dump()
	}
	if err == nil {
		_, err = io.WriteString(w, lastWords+t.Slug.s+"\n")
	}
	return err
}

// parseExported reads the first line of an export and returns a reader of the
// rest, which fails with ErrCutOff at an end that is not the export's.
func parseExported(r io.Reader) (t Tenant, rest *complete, err error) {
	buffered := bufio.NewReaderSize(r, maxFirstLine)
	line, err := buffered.ReadSlice('\n')
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, bufio.ErrBufferFull) {
		return t, nil, err
	}
	row, ours := strings.CutPrefix(string(line), firstWords)
	if !ours {
		return t, nil, ErrNotExported
	}
	if err := json.Unmarshal([]byte(row), &t); err != nil || t.Slug.IsZero() {
		return t, nil, errors.Join(ErrNotExported, err)
	}
	return t, &complete{r: buffered, last: "\n" + lastWords + t.Slug.s}, nil
}

// complete reads r and fails with ErrCutOff where r does not end with last.
type complete struct {
	r    io.Reader
	last string
	tail string // as much of what was read as last is long, and an editor's line end
	err  error  // what reading failed with
}

func (c *complete) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.tail += string(p[:n])
	c.tail = c.tail[max(0, len(c.tail)-len(c.last)-2):]
	if errors.Is(err, io.EOF) && !strings.HasSuffix(strings.TrimRight(c.tail, "\r\n"), c.last) {
		err = ErrCutOff
	}
	if err != nil && !errors.Is(err, io.EOF) {
		c.err = err
	}
	return n, err
}
