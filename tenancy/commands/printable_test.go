package commands_test

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"example.com/subproduct/tenancy/commands"
	"example.com/subproduct/tenancy/localpg/pgtest"
)

// PostgreSQL's errors quote data. What a tenant's user has stored, and what the
// platform calls a plan, is shown to the operator and not obeyed by the terminal.
func TestTenants_WhatATerminalWouldObeyIsQuoted(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{"000001_a.up.sql": {Data: []byte("CREATE TABLE a (id bigint PRIMARY KEY, due text)")}}
	url := pgtest.URL(t)
	before := open(t, url, files)
	must(t, before.MigrateShared(t.Context()))
	must(t, before.Provision(t.Context(), slugOf(t, "acme")))
	execSQL(t, url, `INSERT INTO tenant_acme.a VALUES (1, E'\x1b]0;owned\x07\x1b[2J');
		UPDATE public.tenants SET plan_type = E'Pro\x1b[2J'`)
	db := open(t, url, fstest.MapFS{"000001_a.up.sql": files["000001_a.up.sql"],
		"000002_b.up.sql": {Data: []byte("ALTER TABLE a ALTER COLUMN due TYPE date USING due::date")}})

	report, err := call(t, db, migrate, nil)
	if !errors.Is(err, commands.ErrFailed) {
		t.Fatal(err)
	}
	status, err := call(t, db, migrate, nil, "--status")
	must(t, err)
	shown, err := call(t, db, tenants, nil, "show", "acme")
	must(t, err)
	list, err := call(t, db, tenants, nil, "list")
	must(t, err)
	for text, want := range map[string]string{report: "owned", status: "owned", shown: "owned", list: `"Pro\x1b[2J"`} {
		if strings.ContainsAny(text, "\x1b\a") || !strings.Contains(text, want) {
			t.Errorf("no %s, or as it is: %q", want, text)
		}
	}
}
