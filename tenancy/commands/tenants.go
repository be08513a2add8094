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
	"example.com/subproduct/tenancy/commands/flags"
)

const tenantsUsage = "tenants list | show SLUG | provision SLUG | cancel SLUG | restore SLUG | export SLUG [--output FILE] | import FILE | purge SLUG --yes"

var tenantsTake = flags.Takes{
	"list": {"json"}, "show": {"json"}, "provision": {}, "cancel": {}, "restore": {}, "export": {"output"}, "import": {}, "purge": {"yes"},
}

// tenantsFlags is a call of Tenants.
type tenantsFlags struct {
	word, file string // what to do; what is imported
	slug       tenancy.Slug
	json, yes  bool
	output     string
}

// Tenants lists tenants and leads them through their lives.
func Tenants(ctx context.Context, db *tenancy.DB, args []string, stdout io.Writer) error {
	f, err := parseTenants(args, stdout)
	if err != nil {
		return err
	}
	switch f.word {
	case "list":
		return errorOr(db.CheckShared(ctx), func() error { return listTenants(ctx, db, f, stdout) })
	case "import":
		return importTenant(ctx, db, f.file, stdout)
	case "provision": // the first tenant may come before the first start of the server
		return errorOr(db.MigrateShared(ctx), func() error { return f.one(ctx, db, stdout) })
	}
	return errorOr(db.CheckShared(ctx), func() error { return f.one(ctx, db, stdout) })
}

// CheckTenants refuses a wrong call of Tenants, for which it needs no database.
func CheckTenants(args []string) error {
	_, err := parseTenants(args, io.Discard)
	return err
}

func parseTenants(args []string, stdout io.Writer) (f tenantsFlags, err error) {
	set := flags.New("tenants", tenantsUsage+"\n"+importHelp)
	set.BoolVar(&f.json, "json", false, "print one JSON document (list, show)")
	set.BoolVar(&f.yes, "yes", false, "really purge")
	set.StringVar(&f.output, "output", "", "file that the export goes to; empty: standard output")
	words, err := tenantsTake.Parse(set, args, stdout)
	if err != nil {
		return f, err
	}
	return f, f.read(words)
}

func (f *tenantsFlags) read(words []string) (err error) {
	switch {
	case len(words) == 1 && words[0] == "list":
		f.word = words[0]
		return nil
	case len(words) != 2 || words[0] == "list" || tenantsTake[words[0]] == nil:
		return flags.Refuse(tenantsUsage)
	}
	f.word, f.file = words[0], words[1]
	if f.word == "import" {
		return nil
	}
	if f.slug, err = tenancy.ParseSlug(words[1]); err != nil {
		return flags.Refuse("%v", err)
	}
	if f.word == "purge" && !f.yes {
		return flags.Refuse("purge drops all data of %s for ever; say --yes", f.slug)
	}
	return nil
}

func (f tenantsFlags) one(ctx context.Context, db *tenancy.DB, stdout io.Writer) error {
	did := func(err error, what string) error {
		if err == nil {
			fmt.Fprintf(stdout, "%s %s\n", f.slug, what)
		}
		return err
	}
	switch f.word {
	case "show":
		return showTenant(ctx, db, f, stdout)
	case "provision":
		return did(db.Provision(ctx, f.slug), "is provisioned and active")
	case "cancel":
		return did(db.Cancel(ctx, f.slug), "is cancelled; its sessions have ended, its data stays")
	case "restore":
		return did(db.Restore(ctx, f.slug), "is active")
	case "export":
		return exportTenant(ctx, db, f.slug, f.output, stdout)
	case "purge":
		return did(db.Purge(ctx, f.slug), "is purged: its data is gone")
	}
	return flags.Refuse(tenantsUsage)
}

func listTenants(ctx context.Context, db *tenancy.DB, f tenantsFlags, stdout io.Writer) error {
	tenants, err := db.Tenants(ctx, tenancy.Slug{})
	if err != nil {
		return err
	}
	if f.json {
		return printJSON(stdout, tenants)
	}
	table := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "SLUG\tSTATUS\tPLAN\tVERSION\tSIZE\tLAST SIGN-IN\tNOTE")
	for _, t := range tenants {
		fmt.Fprintf(table, "%s\t%s\t%s\t%d\t%s\t%s\t%s\n", t.Slug, t.Status, oneLine(t.PlanType), t.SchemaVersion, bytesText(t.SizeBytes), when(t.LastSignInAt), note(t))
	}
	return table.Flush()
}

func note(t tenancy.Tenant) string {
	switch {
	case t.PurgingSince != nil:
		return "purge not finished"
	case t.MigrateError != nil:
		return "migration failed"
	}
	return ""
}

func showTenant(ctx context.Context, db *tenancy.DB, f tenantsFlags, stdout io.Writer) error {
	tenants, err := db.Tenants(ctx, f.slug)
	if err != nil {
		return err
	}
	if len(tenants) == 0 {
		return fmt.Errorf("%s: %w", f.slug, tenancy.ErrUnknownTenant)
	}
	t := tenants[0]
	if f.json {
		return printJSON(stdout, t)
	}
	table := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "slug\t%s\nschema\t%s\nstatus\t%s\nplan\t%s\nversion\t%d\nsize\t%s\ncreated\t%s\nlast sign-in\t%s\ncancelled\t%s\n",
		t.Slug, t.Slug.Schema(), t.Status, oneLine(t.PlanType), t.SchemaVersion, bytesText(t.SizeBytes), when(&t.CreatedAt), when(t.LastSignInAt), when(t.CancelledAt))
	if t.PurgingSince != nil {
		fmt.Fprintf(table, "purging since\t%s\n", when(t.PurgingSince))
	}
	if t.MigrateError != nil {
		fmt.Fprintf(table, "migration failed\t%s\n", Printable(*t.MigrateError))
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
	if there, err := os.Stat(output); err == nil && !there.Mode().IsRegular() {
		return flags.Refuse("--output %s is no regular file, and an export takes the place of what is there; leave it out for standard output", output)
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
