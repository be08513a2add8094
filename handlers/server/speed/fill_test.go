package speed

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"example.com/subproduct/tenancy"
)

// fill makes tenants with ten rows and a session each.
func fill(b *testing.B, url string, from, to int) {
	b.Helper()
	db, err := tenancy.Open(b.Context(), tenancy.Options{URL: url, Tenant: notes, MaxConns: 8, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	if err := db.MigrateShared(b.Context()); err != nil {
		b.Fatal(err)
	}
	var workers sync.WaitGroup
	for w := range 8 {
		workers.Go(func() {
			for i := from + w; i < to; i += 8 {
				if err := makeTenant(b, db, i); err != nil {
					b.Error(err)
				}
			}
		})
	}
	workers.Wait()
	conn, err := pgx.Connect(b.Context(), url)
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close(b.Context())
	if _, err := conn.Exec(b.Context(), `ANALYZE public.tenants, public.sessions`); err != nil {
		b.Fatal(err)
	}
}

func makeTenant(b *testing.B, db *tenancy.DB, i int) error {
	slug, err := tenancy.ParseSlug(fmt.Sprintf("t%d", i))
	if err != nil {
		return err
	}
	if err := db.Provision(b.Context(), slug); err != nil {
		return err
	}
	ctx := tenancy.WithTenant(b.Context(), tenancy.Tenant{Slug: slug, Status: tenancy.Active, SchemaVersion: 1})
	if _, err := db.Exec(ctx, `INSERT INTO notes (title) SELECT 'a note of ' || $1 FROM generate_series(1, 10)`, slug.String()); err != nil {
		return err
	}
	user, _ := json.Marshal(map[string]string{"userId": "u" + slug.String(), "email": "u@example.com", "tenantSlug": slug.String(),
		"planType": "Pro", "subscriptionStatus": "Active"})
	until := time.Now().Add(24 * time.Hour)
	data, err := json.Marshal(map[string]any{"deadline": until, "values": map[string]any{"user": string(user)}})
	if err != nil {
		return err
	}
	return db.SaveSession(b.Context(), token(i), tenancy.Session{Tenant: slug, UserID: "u" + slug.String(), Data: data, ExpiresAt: until})
}
