package pgtest

import (
	"net/url"
	"os"
	"testing"

	"github.com/jackc/pgx/v5"

	"example.com/subproduct/tenancy/localpg"
)

// loginEnv names the login of URL's addresses. It is no superuser, owns nothing,
// and has the two rights that a server needs. Unset, the login is the superuser.
const loginEnv = "PGTEST_LOGIN"

// Admin is an address of this package with the superuser as its login: for what a
// test does as the administrator, or as the machine that fails.
func Admin(t testing.TB, address string) string {
	t.Helper()
	admin, err := as("postgres", address)
	if err != nil {
		t.Fatal(err)
	}
	return admin
}

func as(login, address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", err
	}
	u.User = url.User(login)
	return u.String(), nil
}

// makeLogin makes the login that the environment names.
func makeLogin(s *localpg.Server) error {
	login := os.Getenv(loginEnv)
	if login == "" {
		return nil
	}
	return execute(s, "postgres", "CREATE ROLE "+quoted(login)+" LOGIN")
}

// address is the database's, for the login that the environment names, which gets
// its rights.
func address(s *localpg.Server, database string) (string, error) {
	login := os.Getenv(loginEnv)
	if login == "" {
		return s.URL(database), nil
	}
	err := execute(s, database, "GRANT CREATE ON DATABASE "+quoted(database)+" TO "+quoted(login)+"; GRANT CREATE ON SCHEMA public TO "+quoted(login))
	if err != nil {
		return "", err
	}
	return as(login, s.URL(database))
}

func quoted(name string) string { return pgx.Identifier{name}.Sanitize() }
