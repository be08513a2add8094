package tenancy_test

import (
	"context"
	"encoding/base64"
	"errors"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"example.com/subproduct/tenancy"
	"example.com/subproduct/tenancy/localpg/pgtest"
)

// linked is a database with two tenants, and a link into the first.
func linked(t *testing.T) (db *tenancy.DB, url string, acme context.Context, token string) {
	t.Helper()
	url = pgtest.URL(t)
	db = open(t, tenancy.Options{URL: url, Tenant: files("000001_a.up.sql", "CREATE TABLE a (id bigint)")})
	acme = provision(t, db, "acme")
	provision(t, db, "globex")
	token, err := db.SignLink(acme, "invoice", "2026-7", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	return db, url, acme, token
}

func TestLink_OpensWhatItNames(t *testing.T) {
	t.Parallel()
	db, _, acme, _ := linked(t)
	for _, value := range []string{"2026-7", "", "a.b/c?d=%\x00é", strings.Repeat("x", 600)} {
		token, err := db.SignLink(acme, "invoice", value, time.Hour)
		if err != nil || strings.Trim(token, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.") != "" {
			t.Fatalf("%.20q: %q, %v", value, token, err)
		}
		ctx, got, err := db.OpenLink(t.Context(), "invoice", token)
		if err != nil || got != value {
			t.Fatalf("%.20q: %.20q, %v", value, got, err)
		}
		var schema string
		err = db.InTx(ctx, func(tx pgx.Tx) error { return tx.QueryRow(ctx, `SELECT current_schema()`).Scan(&schema) })
		if err != nil || schema != "tenant_acme" {
			t.Errorf("it leads to %q, %v", schema, err)
		}
	}
	if _, err := db.SignLink(acme, "invoice", strings.Repeat("x", 1000), time.Hour); err == nil {
		t.Error("a token that cannot be opened was signed")
	}
}

// forgeries are what somebody makes of a good token.
func forgeries(t *testing.T, good string) map[string]string {
	t.Helper()
	p := strings.Split(good, ".")
	encode := base64.RawURLEncoding.EncodeToString
	later := strconv.FormatInt(time.Now().Add(9000*time.Hour).Unix(), 10)
	last := good[len(good)-1]
	flipped := map[bool]string{true: "B", false: "A"}[last == 'A']
	return map[string]string{
		"empty": "", "dots": "...", "words": "a b c", "cut off": good[:len(good)-1], "without its signature": strings.Join(p[:3], ".") + ".",
		"half": good[:len(good)/2], "one more": good + "A", "one more part": good + ".A", "a bit of the signature": good[:len(good)-1] + flipped,
		"another value":  strings.Join([]string{p[0], p[1], encode([]byte("2026-8")), p[3]}, "."),
		"another tenant": strings.Join([]string{"globex", p[1], p[2], p[3]}, "."), "nobody's": strings.Join([]string{"nobody", p[1], p[2], p[3]}, "."),
		"a longer life": strings.Join([]string{p[0], later, p[2], p[3]}, "."), "no life": strings.Join([]string{p[0], "", p[2], p[3]}, "."),
		"a slug that is SQL": strings.Join([]string{`acme'--`, p[1], p[2], p[3]}, "."), "padded": strings.Join([]string{p[0], p[1], p[2] + "=", p[3]}, "."),
		"a key of zeros": strings.Join(p[:3], ".") + "." + encode(make([]byte, 32)), "oversized": good + strings.Repeat("A", 1<<20),
		"an oversized value": strings.Join([]string{p[0], p[1], strings.Repeat("A", 1<<20), p[3]}, "."), "zero byte": good + "\x00", "not UTF-8": "\xff" + good,
	}
}

func TestLink_ForgedTokensOpenNothing(t *testing.T) {
	t.Parallel()
	db, _, _, good := linked(t)
	for name, token := range forgeries(t, good) {
		if ctx, value, err := db.OpenLink(t.Context(), "invoice", token); !errors.Is(err, tenancy.ErrBadLink) || ctx != nil || value != "" {
			t.Errorf("%s: %q, %v; want ErrBadLink", name, value, err)
		}
	}
	if _, _, err := db.OpenLink(t.Context(), "invoice", good); err != nil {
		t.Errorf("the good one: %v", err)
	}
}

func TestLink_IsForOnePurposeAndNotForEver(t *testing.T) {
	t.Parallel()
	db, _, acme, good := linked(t)
	for _, purpose := range []string{"", "receipt", "Invoice", "invoice\x00", "invoice\x00acme"} {
		if _, _, err := db.OpenLink(t.Context(), purpose, good); !errors.Is(err, tenancy.ErrBadLink) {
			t.Errorf("for %q: %v", purpose, err)
		}
	}
	for _, life := range []time.Duration{0, -time.Hour} {
		token, err := db.SignLink(acme, "invoice", "2026-7", life)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := db.OpenLink(t.Context(), "invoice", token); !errors.Is(err, tenancy.ErrBadLink) {
			t.Errorf("after %v: %v", life, err)
		}
	}
}

// A link is worth what its tenant is: nothing while that is cancelled, and
// nothing for a tenant that has the name of one that was purged.
func TestLink_EndsWithItsTenant(t *testing.T) {
	t.Parallel()
	db, _, acme, good := linked(t)
	acmeSlug := slug(t, "acme")
	if err := db.Cancel(t.Context(), acmeSlug); err != nil {
		t.Fatal(err)
	}
	if ctx, _, err := db.OpenLink(t.Context(), "invoice", good); !errors.Is(err, tenancy.ErrTenantCancelled) || ctx != nil {
		t.Errorf("cancelled: %v", err)
	}
	if _, err := db.ForTenant(t.Context(), "acme"); !errors.Is(err, tenancy.ErrTenantCancelled) {
		t.Errorf("cancelled, by its name: %v", err)
	}
	if err := db.Restore(t.Context(), acmeSlug); err != nil {
		t.Fatal(err)
	}
	if _, _, err := db.OpenLink(t.Context(), "invoice", good); err != nil {
		t.Errorf("restored: %v", err)
	}
	if err := errors.Join(db.Cancel(t.Context(), acmeSlug), db.Purge(t.Context(), acmeSlug)); err != nil {
		t.Fatal(err)
	}
	if _, err := db.SignLink(acme, "invoice", "x", time.Hour); !errors.Is(err, tenancy.ErrUnknownTenant) {
		t.Errorf("signed for a tenant that is gone: %v", err)
	}
	provision(t, db, "acme")
	if _, _, err := db.OpenLink(t.Context(), "invoice", good); !errors.Is(err, tenancy.ErrBadLink) {
		t.Errorf("made again: %v", err)
	}
}

// Keys are random: 32 bytes, no two alike, also of tenants from before the
// column.
func TestLink_EachTenantHasAKeyOfItsOwn(t *testing.T) {
	t.Parallel()
	_, url, _, _ := linked(t)
	pgtest.Exec(t, url, `INSERT INTO public.tenants (slug, schema_version) SELECT 't' || n, 1 FROM generate_series(1, 50) n;
		ALTER TABLE public.tenants DROP COLUMN link_key, DROP COLUMN plan_as_of`)
	migration, err := os.ReadFile("schema/000004_plan_and_links.up.sql")
	if err != nil {
		t.Fatal(err)
	}
	pgtest.Exec(t, url, string(migration))
	if n := pgtest.Query[int](t, url, `SELECT count(DISTINCT link_key) FILTER (WHERE length(link_key) = 32) FROM public.tenants`); n != 52 {
		t.Errorf("%d good keys, want 52", n)
	}
}

func TestForTenant_NamesWhatIsWrong(t *testing.T) {
	t.Parallel()
	db, _, _, _ := linked(t)
	ctx, err := db.ForTenant(t.Context(), "globex")
	if err != nil {
		t.Fatal(err)
	}
	if found, err := tenancy.TenantFrom(ctx); err != nil || found.Slug.String() != "globex" {
		t.Errorf("%v, %v", found, err)
	}
	for name, want := range map[string]string{"nobody": "nobody", "Not A Slug": "Not A Slug", "": "slug"} {
		if ctx, err := db.ForTenant(t.Context(), name); !errors.Is(err, tenancy.ErrUnknownTenant) || ctx != nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", name, err)
		}
	}
}
