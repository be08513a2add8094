package tenancy_test

import (
	"context"
	"log/slog"
	"net/url"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"example.com/subproduct/tenancy"
	"example.com/subproduct/tenancy/localpg/pgtest"
)

// A login with no rights of its own cannot plant a function that ours would
// run: what databases from before PostgreSQL 15 allow is revoked.
func TestMigrateShared_NobodyElseMayCreateInPublic(t *testing.T) {
	t.Parallel()
	address := pgtest.Admin(t, pgtest.URL(t)) // owns the schema, so may revoke
	pgtest.Exec(t, address, `GRANT CREATE ON SCHEMA public TO PUBLIC; GRANT USAGE ON SCHEMA public TO PUBLIC`)
	open(t, tenancy.Options{URL: address, Tenant: things})
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	role := "planter_" + strings.ToLower(t.Name()[len("Test"):len("Test")+7]) + "_" + pgtest.Query[string](t, address, `SELECT pg_backend_pid()::text`)
	if _, err := conn.Exec(t.Context(), `CREATE ROLE `+role); err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = conn.Exec(context.Background(), `RESET ROLE; DROP ROLE `+role) }()
	_, err = conn.Exec(t.Context(), `SET ROLE `+role+`; CREATE FUNCTION public.hashtext(unknown_type text) RETURNS int LANGUAGE sql AS 'SELECT 1'`)
	if err == nil || !strings.Contains(err.Error(), "permission denied") {
		t.Errorf("planted: %v", err)
	}
}

// Where our login may not revoke it, the log has the statement and the start
// goes on.
func TestMigrateShared_TellsAnAdministratorWhatItMayNotRevoke(t *testing.T) {
	t.Parallel()
	address := pgtest.Admin(t, pgtest.URL(t))
	role := "tenant_app_" + pgtest.Query[string](t, address, `SELECT pg_backend_pid()::text`)
	pgtest.Exec(t, address, `CREATE ROLE `+role+` LOGIN PASSWORD 'x'; GRANT CREATE, USAGE ON SCHEMA public TO PUBLIC;
		DO $$ BEGIN EXECUTE 'GRANT CREATE ON DATABASE ' || quote_ident(current_database()) || ' TO `+role+`'; END $$`)
	t.Cleanup(func() { pgtest.Exec(t, address, `DROP OWNED BY `+role+`; DROP ROLE `+role) })
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.UserPassword(role, "x")
	var log strings.Builder
	open(t, tenancy.Options{URL: u.String(), Tenant: things, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	if !strings.Contains(log.String(), "REVOKE CREATE ON SCHEMA public FROM PUBLIC") {
		t.Errorf("the log has no statement:\n%s", log.String())
	}
}
