package commands

import (
	"context"
	"fmt"
	"io"
	"os"

	"example.com/subproduct/tenancy"
)

const importHelp = `import FILE brings back what export wrote, under its own name, where that tenant
is absent. psql runs the file: trust it as you would a migration, for it may do
whatever this program's login may.`

// importTenant reads the file of an export. The tenant may come before the
// first start of the server.
func importTenant(ctx context.Context, db *tenancy.DB, name string, stdout io.Writer) error {
	file, err := os.Open(name) //nolint:gosec // the operator names it
	if err != nil {
		return err
	}
	defer file.Close()
	if err := db.MigrateShared(ctx); err != nil {
		return err
	}
	slug, err := db.Import(ctx, file)
	if err != nil {
		return err
	}
	t, err := db.Tenant(ctx, slug)
	if err == nil {
		fmt.Fprintf(stdout, "%s is imported and %s\n", slug, t.Status)
	}
	return err
}
