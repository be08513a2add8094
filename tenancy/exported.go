package tenancy

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// Errors of a file that is given to Import.
var (
	ErrNotExported = errors.New("this is no file that `tenants export` has written: its first line names no tenant (one that an earlier version wrote is exported again)")
	ErrCutOff      = errors.New("the file is cut off: its last line is missing; export the tenant again")
)

// exported is a tenant's registry row as the first line of an export has it,
// fields named as the columns.
type exported struct {
	Slug          string     `json:"slug"`
	Status        string     `json:"status"`
	PlanType      string     `json:"plan_type"`
	SchemaVersion int64      `json:"schema_version"`
	CreatedAt     time.Time  `json:"created_at"`
	UpdatedAt     time.Time  `json:"updated_at"`
	CancelledAt   *time.Time `json:"cancelled_at"`
	LastSignInAt  *time.Time `json:"last_sign_in_at"`
}

const (
	firstWords = "-- Exported tenant: "
	lastWords  = "-- End of tenant "
	// maxFirstLine bounds what is read of a file that may be anything.
	maxFirstLine = 64 << 10
)

// readExported reads the row, and names the transaction's snapshot for pg_dump.
func readExported(ctx context.Context, tx pgx.Tx, slug Slug) (e exported, snapshot string, err error) {
	var t Tenant
	err = tx.QueryRow(ctx, `SELECT `+tenantColumns+`, pg_export_snapshot() FROM public.tenants WHERE slug = $1`, slug.s).
		Scan(append(t.targets(), &snapshot)...)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		err = ErrUnknownTenant
	case err == nil && t.PurgingSince != nil:
		err = ErrPurging
	}
	return exported{slug.s, t.Status, t.PlanType, t.SchemaVersion, t.CreatedAt, t.UpdatedAt, t.CancelledAt, t.LastSignInAt}, snapshot, err
}

// write writes an export: the row, what dump writes, and a last line, by which
// Import knows that nothing is missing.
func (e exported) write(w io.Writer, dump func() error) error {
	row, err := json.Marshal(e)
	if err == nil {
		_, err = fmt.Fprintf(w, "%s%s\n-- `tenants import FILE` brings it back.\n\n", firstWords, row)
	}
	if err == nil {
		err = dump()
	}
	if err == nil {
		_, err = io.WriteString(w, e.lastLine()+"\n")
	}
	return err
}

func (e exported) lastLine() string { return lastWords + e.Slug }

// parseExported reads the first line of an export and returns a reader of the
// rest, which fails with ErrCutOff at an end that is not the export's.
func parseExported(r io.Reader) (e exported, slug Slug, rest *complete, err error) {
	buffered := bufio.NewReaderSize(r, maxFirstLine)
	line, err := buffered.ReadSlice('\n')
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, bufio.ErrBufferFull) {
		return e, slug, nil, err
	}
	row, ours := strings.CutPrefix(string(line), firstWords)
	if !ours || json.Unmarshal([]byte(row), &e) != nil {
		return e, slug, nil, ErrNotExported
	}
	if slug, err = ParseSlug(e.Slug); err != nil {
		return e, slug, nil, fmt.Errorf("%w: %w", ErrNotExported, err)
	}
	return e, slug, &complete{r: buffered, last: "\n" + e.lastLine()}, nil
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
