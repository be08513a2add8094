package ops_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"example.com/subproduct/handlers/handlertest"
	"example.com/subproduct/handlers/handlertest/fixture"
	"example.com/subproduct/tenancy/localpg/pgtest"
)

// asApp is the URL of the database app for the login app.
func asApp(t *testing.T, database string) string {
	t.Helper()
	u, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.UserPassword("app", password)
	return u.String()
}

// password is $APP_DB_PASSWORD.
const password = "secret-of-app"

// makeLogin does what README.md says, as it stands there.
func (d harness) makeLogin(t *testing.T) {
	t.Helper()
	if out, err := d.shell(commands(t, "README.md", "The database's login", 0)).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// With the login that README.md makes, and no other, the server starts, makes
// tenants, serves, migrates, and lets them go.
func TestRole_WhatTheChapterGrantsIsEnough(t *testing.T) {
	t.Parallel()
	pg := pgtest.NewServer(t)
	d := newHarness(t, "ADMIN="+pg.URL("postgres"), "APP_DB_PASSWORD="+password, "DATABASE_URL="+asApp(t, pg.URL("app")))
	d.makeLogin(t)
	var log handlertest.Log
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{Database: asApp(t, pg.URL("app")), Log: &log})
	b := site.SignIn(t, "acme")
	addItem(t, b, "mine")
	wantItems(t, b, "mine")
	for _, words := range []string{"migrate", "migrate --drift", "tenants export acme --output acme.sql", "tenants cancel acme", "tenants purge acme --yes", "tenants import acme.sql"} {
		if out, err := d.shell("app " + words).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", words, err, out)
		}
	}
	wantItems(t, site.SignIn(t, "acme"), "mine")
	if answer := b.Get("/healthz"); answer.Status != http.StatusOK {
		t.Errorf("/healthz: %d", answer.Status)
	}
	if text := log.String(); strings.Contains(text, "GRANT ") || strings.Contains(text, "REVOKE ") {
		t.Errorf("the server wants more, or less: %s", text)
	}
}

// It is no superuser and owns what it made, and nothing else.
func TestRole_OwnsAsLittleAsTheChapterSays(t *testing.T) {
	t.Parallel()
	pg := pgtest.NewServer(t)
	newHarness(t, "ADMIN="+pg.URL("postgres"), "APP_DB_PASSWORD="+password).makeLogin(t)
	app := &handlertest.Site{Database: asApp(t, pg.URL("app"))}
	if powers := handlertest.Query[string](t, app, `
		SELECT concat_ws(' ', current_user, rolsuper, rolcreatedb, rolcreaterole, rolreplication, rolbypassrls,
			(SELECT count(*) FROM pg_shdepend WHERE refobjid = r.oid AND deptype = 'o'),
			has_database_privilege(current_database(), 'TEMPORARY'))
		FROM pg_roles r WHERE rolname = current_user`); powers != "app f f f f f 0 f" {
		t.Errorf("the login is %s", powers)
	}
}
