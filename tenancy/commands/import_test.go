package commands_test

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/subproduct/tenancy"
	"example.com/subproduct/tenancy/commands/flags"
	"example.com/subproduct/tenancy/localpg/pgtest"
)

// From one database into another that has nothing yet, by commands; a cancelled
// tenant is cancelled there too.
func TestTenants_ImportOfWhatExportWrote(t *testing.T) {
	t.Parallel()
	url, db := fleetOf(t, 1)
	execSQL(t, url, `INSERT INTO tenant_t0.a VALUES (42)`)
	file := filepath.Join(t.TempDir(), "t0.sql")
	for _, args := range [][]string{{"cancel", "t0"}, {"export", "t0", "--output", file}} {
		if _, err := call(t, db, tenants, nil, args...); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := call(t, db, tenants, nil, "import", file); !errors.Is(err, tenancy.ErrTenantThere) {
		t.Errorf("beside itself: %v", err)
	}
	elsewhere := pgtest.URL(t)
	there := open(t, elsewhere, two)
	if text, err := call(t, there, tenants, nil, "import", file); err != nil || text != "t0 is imported and cancelled\n" {
		t.Errorf("%q, %v", text, err)
	}
	execSQL(t, elsewhere, `DO $$ BEGIN IF (SELECT b FROM tenant_t0.a WHERE id = 42) <> 'x' THEN RAISE 'not migrated'; END IF; END $$`)
	if _, err := call(t, there, tenants, nil, "import", file+".nowhere"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

func TestTenants_TheHelpSaysWhatAnImportMayDo(t *testing.T) {
	t.Parallel()
	if text, err := call(t, nil, tenants, nil, "--help"); !errors.Is(err, flag.ErrHelp) || !strings.Contains(text, "trust it as you would a migration") || !strings.Contains(text, "import FILE |") {
		t.Errorf("%v\n%s", err, text)
	}
	if _, err := call(t, nil, tenants, nil, "import"); !errors.Is(err, flags.ErrUsage) {
		t.Errorf("without a file: %v", err)
	}
}
