package tenancy_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.com/subproduct/tenancy"
	"example.com/subproduct/tenancy/localpg/pgtest"
)

func dumpEnv(t *testing.T, url string) []string {
	t.Helper()
	db, err := tenancy.Open(t.Context(), tenancy.Options{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	return tenancy.LibpqEnv(db)
}

// An export's connection is protected as the URL says, neither less nor more,
// and pg_dump is told nothing else. (t.Setenv: not parallel.)
func TestExport_TheConnectionIsAsTheURLSays(t *testing.T) {
	t.Setenv("WEBHOOK_SECRET", "hunter2")
	t.Setenv("PGSSLROOTCERT", "")
	root := filepath.Join(t.TempDir(), "root.crt")
	if err := os.WriteFile(root, []byte(certificate), 0o600); err != nil {
		t.Fatal(err)
	}
	for query, want := range map[string][]string{
		"": nil, "?target_session_attrs=read-write&sslmode=disable": {"PGTARGETSESSIONATTRS=read-write", "PGSSLMODE=disable"}, "?sslmode=disable": {"PGSSLMODE=disable"}, "?sslmode=prefer": {"PGSSLMODE=prefer"},
		"?sslmode=require&channel_binding=require": {"PGSSLMODE=require", "PGCHANNELBINDING=require"},
		"?sslmode=verify-full&sslrootcert=" + root: {"PGSSLMODE=verify-full", "PGSSLROOTCERT=" + root},
	} {
		env := dumpEnv(t, "postgres://me:word@db.example:5433/app"+query)
		for _, w := range append(want, "PGHOST=db.example", "PGPORT=5433", "PGUSER=me", "PGPASSWORD=word", "PGDATABASE=app", "PATH="+os.Getenv("PATH")) {
			if !slices.Contains(env, w) {
				t.Errorf("%q: no %s in %v", query, w, env)
			}
		}
		protected := slices.DeleteFunc(slices.Clone(env), func(v string) bool {
			return !strings.HasPrefix(v, "PGSSL") && !strings.HasPrefix(v, "PGCHANNEL") && !strings.HasPrefix(v, "PGTARGET")
		})
		if len(protected) != len(want) || strings.Contains(strings.Join(env, "\n"), "hunter2") {
			t.Errorf("%q: %v", query, env)
		}
	}
	t.Setenv("PGSSLMODE", "require")
	if env := dumpEnv(t, "postgres://db.example/app"); !slices.Contains(env, "PGSSLMODE=require") {
		t.Errorf("from the environment: %v", env)
	}
}

// Of several servers the tools look for the same one as the pool does.
func TestExport_EveryServerOfTheURL(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"disable", "prefer", "verify-full"} {
		env := dumpEnv(t, "postgres://me@a.example:5433,b.example:5433,c.example:5434/app?sslmode="+mode)
		if !slices.Contains(env, "PGHOST=a.example,b.example,c.example") || !slices.Contains(env, "PGPORT=5433,5433,5434") {
			t.Errorf("%s: %v", mode, env)
		}
	}
}

// The plain URL, to a server without TLS.
func TestExport_OfAServerWithoutTLS(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	db := open(t, tenancy.Options{URL: strings.ReplaceAll(url, "sslmode=disable", "")})
	provision(t, db, "acme")
	var dump strings.Builder
	if err := db.Export(t.Context(), slug(t, "acme"), &dump); err != nil || !strings.Contains(dump.String(), "tenant_acme") {
		t.Errorf("%v: %s", err, dump.String())
	}
}

// certificate is any that can be parsed.
const certificate = `-----BEGIN CERTIFICATE-----
MIIBdTCCARugAwIBAgIUG/Lj+utLQ+Uujpsnwm5e2uQNADwwCgYIKoZIzj0EAwIw
DzENMAsGA1UEAwwEdGVzdDAgFw0yNjExMjEyMDMyMDRaGA8yMTI2MTAyODIwMzIw
NFowDzENMAsGA1UEAwwEdGVzdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABPIC
x59wqxkR/emSq+9lti08l2Bis4n5iR0TvimUl1JYZb1N5ht1Qj2ORzX6j1DdovtG
ofUpKNeN/WBOAO3emLWjUzBRMB0GA1UdDgQWBBSkPcesUq2B8NiIpwu6aPbhDpKT
UTAfBgNVHSMEGDAWgBSkPcesUq2B8NiIpwu6aPbhDpKTUTAPBgNVHRMBAf8EBTAD
AQH/MAoGCCqGSM49BAMCA0gAMEUCIQCFVdQCu2Rk5k1cdn9Nw/e5qMS7+2ltxrRB
1ynKYMgi9QIgcAO1pSUBFBfC3cpLk3Q4hCBvHo6LMpVNEa6GFXRgnhg=
-----END CERTIFICATE-----
`
