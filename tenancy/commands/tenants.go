package commands

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"text/tabwriter"
	"time"

	"example.com/subproduct/tenancy"
)

const tenantsUsage = "tenants list | show SLUG | provision SLUG | cancel SLUG | restore SLUG | export SLUG [--output FILE] | import FILE | purge SLUG --yes"

type tenantsFlags struct {
	json, yes bool
	output    string
}

// Tenants lists tenants and leads them through their lives.
func Tenants(ctx context.Context, db *tenancy.DB, args []string, stdout io.Writer) error {
	var f tenantsFlags
	set := newFlags("tenants", args, stdout)
	set.BoolVar(&f.json, "json", false, "print one JSON document (list, show)")
	set.BoolVar(&f.yes, "yes", false, "really purge")
	set.StringVar(&f.output, "output", "", "file that the export goes to; empty: standard output")
	set.Usage = func() {
		fmt.Fprintf(set.Output(), "usage: %s\n%s", tenantsUsage, importHelp)
		set.PrintDefaults()
	}
	words, err := parse(set, args)
	if err != nil {
		return err
	}
	if len(words) == 1 && words[0] == "list" {
		return errorOr(db.CheckShared(ctx), func() error { return listTenants(ctx, db, f, stdout) })
	}
	if len(words) != 2 {
		return usage(tenantsUsage)
	}
	if words[0] == "import" {
		return importTenant(ctx, db, words[1], stdout)
	}
	slug, err := tenancy.ParseSlug(words[1])
	if err != nil {
		return usage("%v", err)
	}
	// The first tenant may come before the first start of the server.
	check := db.CheckShared
	if words[0] == "provision" {
		check = db.MigrateShared
	}
	return errorOr(check(ctx), func() error { return f.one(ctx, db, words[0], slug, stdout) })
}

func (f tenantsFlags) one(ctx context.Context, db *tenancy.DB, word string, slug tenancy.Slug, stdout io.Writer) error {
	did := func(err error, what string) error {
		if err == nil {
			fmt.Fprintf(stdout, "%s %s\n", slug, what)
		}
		return err
	}
	switch word {
	case "show":
		return showTenant(ctx, db, slug, f, stdout)
	case "provision":
		return did(db.Provision(ctx, slug), "is provisioned and active")
	case "cancel":
		return did(db.Cancel(ctx, slug), "is cancelled; its sessions have ended, its data stays")
	case "restore":
		return did(db.Restore(ctx, slug), "is active")
	case "export":
		return exportTenant(ctx, db, slug, f.output, stdout)
	case "purge":
		if !f.yes {
			return usage("purge drops all data of %s for ever; say --yes", slug)
		}
		return did(db.Purge(ctx, slug), "is purged: its data is gone")
	}
	return usage(tenantsUsage)
}

// tenantRow is a tenant as it is printed, its fields named as the columns.
type tenantRow struct {
	Slug          string     `json:"slug"`
	Status        string     `json:"status"`
	PlanType      string     `json:"plan_type"`
	SchemaVersion int64      `json:"schema_version"`
	SizeBytes     int64      `json:"size_bytes"`
	CreatedAt     time.Time  `json:"created_at"`
	UpdatedAt     time.Time  `json:"updated_at"`
	CancelledAt   *time.Time `json:"cancelled_at"`
	LastSignInAt  *time.Time `json:"last_sign_in_at"`
	PurgingSince  *time.Time `json:"purging_since"`
	MigrateError  *string    `json:"migrate_error"`
}

func newTenantRow(t tenancy.Tenant, size int64) tenantRow {
	row := tenantRow{
		Slug: t.Slug.String(), Status: t.Status, PlanType: t.PlanType, SchemaVersion: t.SchemaVersion, SizeBytes: size,
		CreatedAt: t.CreatedAt, UpdatedAt: t.UpdatedAt, CancelledAt: t.CancelledAt, LastSignInAt: t.LastSignInAt, PurgingSince: t.PurgingSince,
	}
	if t.MigrateError != "" {
		row.MigrateError = &t.MigrateError
	}
	return row
}

func listTenants(ctx context.Context, db *tenancy.DB, f tenantsFlags, stdout io.Writer) error {
	rows := []tenantRow{}
	err := db.Tenants(ctx, tenancy.Slug{}, func(t tenancy.Tenant, size int64) error {
		rows = append(rows, newTenantRow(t, size))
		return nil
	})
	if err != nil {
		return err
	}
	if f.json {
		return printJSON(stdout, rows)
	}
	table := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "SLUG\tSTATUS\tPLAN\tVERSION\tSIZE\tLAST SIGN-IN\tNOTE")
	for _, r := range rows {
		fmt.Fprintf(table, "%s\t%s\t%s\t%d\t%s\t%s\t%s\n", r.Slug, r.Status, r.PlanType, r.SchemaVersion, bytesText(r.SizeBytes), when(r.LastSignInAt), r.note())
	}
	return table.Flush()
}

func (r tenantRow) note() string {
	switch {
	case r.PurgingSince != nil:
		return "purge not finished"
	case r.MigrateError != nil:
		return "migration failed"
	}
	return ""
}

func showTenant(ctx context.Context, db *tenancy.DB, slug tenancy.Slug, f tenantsFlags, stdout io.Writer) error {
	var row *tenantRow
	err := db.Tenants(ctx, slug, func(t tenancy.Tenant, size int64) error {
		found := newTenantRow(t, size)
		row = &found
		return nil
	})
	if err != nil {
		return err
	}
	if row == nil {
		return fmt.Errorf("%s: %w", slug, tenancy.ErrUnknownTenant)
	}
	if f.json {
		return printJSON(stdout, row)
	}
	table := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "slug\t%s\nschema\t%s\nstatus\t%s\nplan\t%s\nversion\t%d\nsize\t%s\ncreated\t%s\nlast sign-in\t%s\ncancelled\t%s\n",
		row.Slug, slug.Schema(), row.Status, row.PlanType, row.SchemaVersion, bytesText(row.SizeBytes), when(&row.CreatedAt), when(row.LastSignInAt), when(row.CancelledAt))
	if row.PurgingSince != nil {
		fmt.Fprintf(table, "purging since\t%s\n", when(row.PurgingSince))
	}
	if row.MigrateError != nil {
		fmt.Fprintf(table, "migration failed\t%s\n", *row.MigrateError)
	}
	return table.Flush()
}

// exportTenant writes to a file that appears only when it is complete. Until then
// it is one that nobody else can have made: in a folder that others write to, a
// link of theirs would lead our bytes elsewhere.
func exportTenant(ctx context.Context, db *tenancy.DB, slug tenancy.Slug, output string, stdout io.Writer) error {
	if output == "" {
		return db.Export(ctx, slug, stdout)
	}
	file, err := os.CreateTemp(filepath.Dir(output), filepath.Base(output)+".*.part") // O_EXCL, 0600
	if err != nil {
		return err
	}
	defer os.Remove(file.Name())
	if err := db.Export(ctx, slug, file); err != nil {
		file.Close()
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	return os.Rename(file.Name(), output)
}

func when(t *time.Time) string {
	if t == nil {
		return "–"
	}
	return t.UTC().Format("2006-01-02 15:04Z")
}

func bytesText(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%d KiB", n>>10)
}
