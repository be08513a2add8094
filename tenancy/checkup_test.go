package tenancy_test

import (
	"net/url"
	"strings"
	"testing"

	"example.com/subproduct/tenancy"
	"example.com/subproduct/tenancy/localpg/pgtest"
)

// findings of a database that may not have the shared schema, by name.
func findings(t *testing.T, o tenancy.Options) map[string]tenancy.Finding {
	t.Helper()
	db, err := tenancy.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	found, err := db.Checkup(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	byName := map[string]tenancy.Finding{}
	for _, f := range found {
		if f.Sentence == "" {
			t.Errorf("%s says nothing", f.Name)
		}
		byName[f.Name] = f
	}
	if len(byName) != len(found) || len(found) != 6 {
		t.Errorf("%d findings: %+v", len(found), found)
	}
	return byName
}

func TestCheckup_NothingIsWrong(t *testing.T) {
	t.Parallel()
	address := pgtest.URL(t)
	pgtest.Exec(t, pgtest.Admin(t, address), `REVOKE CREATE ON SCHEMA public FROM PUBLIC`) // as it is since PostgreSQL 15
	for _, f := range findings(t, tenancy.Options{URL: address}) {
		if f.Severity != tenancy.OK || f.Statement != "" {
			t.Errorf("%+v", f)
		}
	}
}

// Each statement, run by an administrator, mends what it is about.
func TestCheckup_RightsAndWhatGivesThem(t *testing.T) {
	t.Parallel()
	address := pgtest.Admin(t, pgtest.URL(t))
	role := "Plain " + pgtest.Query[string](t, address, `SELECT pg_backend_pid()::text`)
	pgtest.Exec(t, address, `CREATE ROLE "`+role+`" LOGIN PASSWORD 'x'; GRANT CREATE ON SCHEMA public TO PUBLIC`)
	t.Cleanup(func() { pgtest.Exec(t, address, `DROP OWNED BY "`+role+`"; DROP ROLE "`+role+`"`) })
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.UserPassword(role, "x")
	want := func(name string, migrates bool, severity tenancy.Severity) string {
		t.Helper()
		f := findings(t, tenancy.Options{URL: u.String(), MigrateOnUse: migrates})[name]
		if f.Severity != severity {
			t.Errorf("%+v, want %s", f, severity)
		}
		return f.Statement
	}
	pgtest.Exec(t, address, want(tenancy.CheckPlanting, true, tenancy.Warning))
	want(tenancy.CheckPlanting, true, tenancy.OK)
	pgtest.Exec(t, address, want(tenancy.CheckSchemas, false, tenancy.Failure))
	want(tenancy.CheckSchemas, false, tenancy.OK)
	want(tenancy.CheckPublic, true, tenancy.Failure)
	pgtest.Exec(t, address, want(tenancy.CheckPublic, false, tenancy.Warning))
	want(tenancy.CheckPublic, true, tenancy.OK)
}

// What our login will revoke by itself is no finding; left to an operator it is.
func TestCheckup_APublicThatIsOursToClose(t *testing.T) {
	t.Parallel()
	address := pgtest.Admin(t, pgtest.URL(t)) // owns the schema
	pgtest.Exec(t, address, `GRANT CREATE ON SCHEMA public TO PUBLIC`)
	for migrates, want := range map[bool]tenancy.Severity{true: tenancy.OK, false: tenancy.Warning} {
		if f := findings(t, tenancy.Options{URL: address, MigrateOnUse: migrates})[tenancy.CheckPlanting]; f.Severity != want {
			t.Errorf("with MigrateOnUse %v: %+v", migrates, f)
		}
	}
}

func TestCheckup_ReadOnly(t *testing.T) {
	t.Parallel()
	address := pgtest.URL(t) + "&default_transaction_read_only=on"
	if f := findings(t, tenancy.Options{URL: address})[tenancy.CheckReadOnly]; f.Severity != tenancy.Failure || !strings.Contains(f.Sentence, "target_session_attrs") {
		t.Errorf("%+v", f)
	}
}

// Only what is seen to break is a failure, whatever stands in between, and
// however often it is looked at.
func TestCheckup_PoolerAndExecutionMode(t *testing.T) {
	t.Parallel()
	direct := pgtest.URL(t)
	for _, c := range []struct {
		pooler, mode string
		want         tenancy.Severity
	}{
		{"", "cache_statement", tenancy.OK},
		{"", "exec", tenancy.OK},
		{"transaction", "cache_statement", tenancy.Failure},
		{"transaction", "describe_exec", tenancy.Failure},
		{"transaction", "cache_describe", tenancy.Warning},
		{"transaction", "exec", tenancy.OK},
		{"transaction", "simple_protocol", tenancy.OK},
		{"session", "cache_statement", tenancy.OK},
		{"session", "describe_exec", tenancy.Warning},
	} {
		t.Run(c.pooler+" "+c.mode, func(t *testing.T) {
			t.Parallel()
			address := direct
			if c.pooler != "" {
				address = pgtest.PoolerIn(t, c.pooler, direct)
			}
			u, err := url.Parse(address)
			if err != nil {
				t.Fatal(err)
			}
			q := u.Query()
			q.Set("default_query_exec_mode", c.mode)
			u.RawQuery = q.Encode()
			for range 3 {
				f := findings(t, tenancy.Options{URL: u.String()})[tenancy.CheckPooler]
				if f.Severity != c.want || (c.want != tenancy.OK) != strings.Contains(f.Statement, "default_query_exec_mode=exec") {
					t.Errorf("%+v, want %s", f, c.want)
				}
			}
		})
	}
}
