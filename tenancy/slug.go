package tenancy

import (
	"errors"
	"fmt"
	"regexp"

	"github.com/jackc/pgx/v5"
)

// ErrBadSlug says that a string is no tenant slug.
var ErrBadSlug = errors.New("not a tenant slug: 1 to 56 of a-z 0-9 _ -, beginning and ending in a letter or digit")

// slugs leave room for the prefix in PostgreSQL's 63 bytes of a name.
var slugs = regexp.MustCompile(`^[a-z0-9]([a-z0-9_-]{0,54}[a-z0-9])?$`)

// Slug is a tenant's validated slug, the only thing that a schema name is made
// of. The zero Slug is no tenant.
type Slug struct{ s string }

// ParseSlug accepts s unchanged or returns ErrBadSlug; it never trims, folds or
// truncates, for two spellings must not become one tenant.
func ParseSlug(s string) (Slug, error) {
	if !slugs.MatchString(s) {
		return Slug{}, fmt.Errorf("%.80q: %w", s, ErrBadSlug)
	}
	return Slug{s}, nil
}

func (s Slug) String() string { return s.s }

// MarshalText is for JSON, as UnmarshalText is, which returns ErrBadSlug.
func (s Slug) MarshalText() ([]byte, error) { return []byte(s.s), nil }

func (s *Slug) UnmarshalText(text []byte) (err error) {
	*s, err = ParseSlug(string(text))
	return err
}

// IsZero reports whether s is no tenant.
func (s Slug) IsZero() bool { return s.s == "" }

// Schema is the name of the tenant's schema, unquoted (contract, tenant schema
// rule 1).
func (s Slug) Schema() string { return "tenant_" + s.s }

// ident is the schema as an SQL identifier.
func (s Slug) ident() string { return pgx.Identifier{s.Schema()}.Sanitize() }
