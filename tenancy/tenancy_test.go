package tenancy_test

import (
	"context"
	"io/fs"
	"log/slog"
	"testing"
	"testing/fstest"
	"time"

	"github.com/jackc/pgx/v5"

	"example.com/subproduct/tenancy"
	"example.com/subproduct/tenancy/localpg/pgtest"
)

// open returns a database of its own for the test, with the shared schema.
func open(t testing.TB, o tenancy.Options) *tenancy.DB {
	t.Helper()
	if o.URL == "" {
		o.URL = pgtest.URL(t)
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	db, err := tenancy.Open(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	if err := db.MigrateShared(t.Context()); err != nil {
		t.Fatal(err)
	}
	return db
}

// files makes migrations of name and SQL pairs.
func files(namesAndSQL ...string) fs.FS {
	m := fstest.MapFS{}
	for i := 0; i < len(namesAndSQL); i += 2 {
		m[namesAndSQL[i]] = &fstest.MapFile{Data: []byte(namesAndSQL[i+1])}
	}
	return m
}

func slug(t testing.TB, s string) tenancy.Slug {
	t.Helper()
	parsed, err := tenancy.ParseSlug(s)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

// provision makes a tenant and returns a context in which InTx works on it.
func provision(t testing.TB, db *tenancy.DB, name string) context.Context {
	t.Helper()
	if err := db.Provision(t.Context(), slug(t, name)); err != nil {
		t.Fatal(err)
	}
	tenant, err := db.Tenant(t.Context(), slug(t, name))
	if err != nil {
		t.Fatal(err)
	}
	return tenancy.WithTenant(t.Context(), tenant)
}

// useColumnB needs the second version of the tenant's schema.
func useColumnB(ctx context.Context) func(pgx.Tx) error {
	return func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `INSERT INTO a (id, b) VALUES ((SELECT count(*) + 1 + random() * 1e9 FROM a), 'x')`)
		return err
	}
}

// await waits until the condition holds.
func await(t testing.TB, what string, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !condition(); {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain until %s", what)
		}
		time.Sleep(5 * time.Millisecond)
	}
}
