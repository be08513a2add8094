package tenancy_test

import (
	"errors"
	"strings"
	"testing"

	"example.com/subproduct/tenancy"
)

func TestParseSlug(t *testing.T) {
	t.Parallel()
	for _, good := range []string{"a", "7", "acme", "acme-corp", "acme_corp", "a--b", "a__b", "0a", strings.Repeat("x", 56)} {
		s, err := tenancy.ParseSlug(good)
		if err != nil || s.String() != good || s.Schema() != "tenant_"+good {
			t.Errorf("ParseSlug(%q) = %v, %v; want it unchanged", good, s, err)
		}
	}
	for _, bad := range []string{
		"", "-a", "a-", "_a", "a_", "A", "Acme", "a b", " a", "a ", "a.b", "a/b", "a\"b", "a'b", "a;b", "a\x00b", "ä", "ａ", "a\n", "%61",
		strings.Repeat("x", 57), "public\x00", `a"; DROP SCHEMA public; --`, "\u202eacme", "acme\u200b",
	} {
		if s, err := tenancy.ParseSlug(bad); !errors.Is(err, tenancy.ErrBadSlug) || !s.IsZero() {
			t.Errorf("ParseSlug(%q) = %v, %v; want ErrBadSlug", bad, s, err)
		}
	}
}

func FuzzParseSlug(f *testing.F) {
	for _, seed := range []string{"acme", "a-b_c", "", "A", "tenant_x", strings.Repeat("z", 57), `x"`, "é"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		s, err := tenancy.ParseSlug(in)
		if err != nil {
			return
		}
		if s.String() != in || len(s.Schema()) > 63 || strings.ContainsAny(in, "\"'; \x00\\/.") || strings.ToLower(in) != in {
			t.Errorf("%q was accepted", in)
		}
	})
}
