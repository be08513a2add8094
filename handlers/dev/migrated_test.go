//go:build !production

package dev_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"example.com/subproduct/handlers/dev"
	"example.com/subproduct/handlers/server"
	"example.com/subproduct/tenancy/localpg/pgtest"
)

// runDev runs `dev` on a data folder until it is ready, with these migrations of
// the tenants' and of all.
func runDev(t *testing.T, data string, tenant, shared fstest.MapFS, args ...string) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	p := server.Product{Name: "Changes", Slug: "changes", TenantSchema: tenant, SharedSchema: shared}
	args = append(args, "--data", data, "--app-addr", "127.0.0.1:0", "--platform-addr", "127.0.0.1:0")
	return dev.Run(ctx, p, args, func(string) (string, bool) { return "", false }, untilReady{cancel})
}

// untilReady ends `dev` when it has printed where to go.
type untilReady struct{ end func() }

func (u untilReady) Write(b []byte) (int, error) {
	if strings.Contains(string(b), "Ctrl-C") {
		u.end()
	}
	return len(b), nil
}

func TestMigrations_OneThatRanAndHasChangedIsNamed(t *testing.T) {
	t.Parallel()
	data := pgtest.Dir(t)
	files := func(sql ...string) fstest.MapFS {
		all := fstest.MapFS{}
		for i, s := range sql {
			all[fmt.Sprintf("%06d_x.up.sql", i+1)] = &fstest.MapFile{Data: []byte(s)}
		}
		return all
	}
	const (
		one, changed = "CREATE TABLE a (id int PRIMARY KEY)", "CREATE TABLE a (id bigint PRIMARY KEY)"
		shared       = "CREATE TABLE shared (id int PRIMARY KEY)"
	)
	for _, c := range []struct {
		what           string
		tenant, shared fstest.MapFS
		args           []string
		want           string // of the error
	}{
		{"at first", files(one), files(shared), nil, ""},
		{"with a new one that fails", files(one, "CREATE TABLE b ("), files(shared), nil, ""},
		{"which has changed", files(one, "SELECT 1"), files(shared), nil, ""},
		{"a tenant's", files(changed, "SELECT 1"), files(shared), nil, ": schema/tenant/000001_x.up.sql. "},
		{"all are gone, as on another branch", nil, nil, nil, ""},
		{"which has others", fstest.MapFS{"000001_y.up.sql": {Data: []byte(one)}}, files("SELECT 1"), nil, ": schema/shared/000001_x.up.sql, schema/tenant/000001_x.up.sql"},
		{"that of all has changed", nil, files("SELECT 1"), nil, ": schema/shared/000001_x.up.sql. "},
		{"which is not undone", nil, files("SELECT 1"), []string{"--undo"}, "schema/shared/000001_x.up.sql is of all tenants together"},
		{"reset", files(changed), files(shared), []string{"--reset"}, ""},
	} {
		err := runDev(t, data, c.tenant, c.shared, c.args...)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "--reset")) {
			t.Errorf("%s: %v, want %q", c.what, err, c.want)
		}
		// What --undo refuses is not advised.
		if tenants := !strings.Contains(c.want, "schema/shared/"); c.want != "" && strings.Contains(err.Error(), "dev --undo") != tenants {
			t.Errorf("%s: the advice is: %v", c.what, err)
		}
	}
}
