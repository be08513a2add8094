package handlertest_test

import (
	"testing"
	"testing/fstest"

	"example.com/subproduct/handlers/handlertest"
	"example.com/subproduct/handlers/server"
)

// A test that needs what its own refers to gets one, of whatever columns, and the
// same one when it asks again.
func TestRow_IsMadeUpWithWhatItRefersTo(t *testing.T) {
	t.Parallel()
	tables := fstest.MapFS{"000001_all.up.sql": {Data: []byte(`
		CREATE TABLE clients (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL CHECK (name <> ''), code uuid NOT NULL, more jsonb NOT NULL);
		CREATE TABLE projects (id bigserial PRIMARY KEY, client_id bigint NOT NULL REFERENCES clients (id), due date NOT NULL, at timestamptz NOT NULL,
			hours numeric NOT NULL, done boolean NOT NULL, remark text, owner_id bigint REFERENCES clients (id));`)}}
	site := handlertest.Start(t, server.Product{Name: "Rows", Slug: "rows", TenantSchema: tables}, handlertest.Setup{})
	site.Subscribe(t, "acme")
	project := site.Row(t, "acme", "projects")
	if of := handlertest.TenantQuery[int64](t, site, "acme", `SELECT client_id FROM projects WHERE id = $1`, project); of != site.Row(t, "acme", "clients") {
		t.Errorf("the project is of %d", of)
	}
	if again := site.Row(t, "acme", "projects"); project == 0 || again != project {
		t.Errorf("%d, then %d", project, again)
	}
}
