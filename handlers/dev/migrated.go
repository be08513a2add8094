//go:build !production

package dev

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// checkMigrations returns an error that names each migration which has run on
// the data and is another file now: the tables would not be what the files say.
// With --undo these are undone instead.
// It keeps the checksums of the files that this run has, for the next one.
func (d *stack) checkMigrations(ctx context.Context) error {
	conn, err := pgx.Connect(ctx, d.postgres.URL(database))
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	name, ran := filepath.Join(d.options.data, "migrations.json"), map[string]string{}
	if before, err := os.ReadFile(name); err == nil {
		_ = json.Unmarshal(before, &ran) // what cannot be read is compared with nothing
	}
	now, changed, err := d.migrations(ctx, conn, ran)
	if err != nil {
		return err
	}
	slices.Sort(changed)
	if len(changed) > 0 && d.options.undo {
		if err := d.undo(ctx, conn, changed); err != nil {
			return err
		}
	} else if len(changed) > 0 {
		return fmt.Errorf("changed since it ran on the data in %s, and no migration runs twice: %s. %s", d.options.data, strings.Join(changed, ", "), waysOut(changed))
	}
	content, _ := json.MarshalIndent(now, "", "  ") // of texts: it cannot fail
	return os.WriteFile(name, append(content, '\n'), 0o600)
}

// waysOut offers --undo only where it takes all that changed.
func waysOut(changed []string) string {
	undo := "or, as where it failed for one tenant and ran for another, undo it with its down file and run it as it is now: dev --undo; "
	if slices.ContainsFunc(changed, ofAllTenants) {
		undo = ""
	}
	return "Put the file back, and the change into a new one with the next number; " + undo + "or throw the data away: dev --reset"
}

// migrations are the checksums of this run's files, by their paths, and those of
// the files that ran before and are others now.
func (d *stack) migrations(ctx context.Context, conn *pgx.Conn, ran map[string]string) (now map[string]string, changed []string, err error) {
	now = map[string]string{}
	for _, of := range []struct {
		folder string
		files  fs.FS
		query  string
	}{
		{"schema/tenant", d.product.TenantSchema, `SELECT coalesce(max(schema_version), 0) FROM public.tenants`},
		{"schema/shared", d.product.SharedSchema, `SELECT coalesce(max(version), 0) FROM public.schema_migrations`},
	} {
		version, err := versionOf(ctx, conn, of.query)
		if err == nil {
			err = sums(of.folder, of.files, now)
		}
		if err != nil {
			return nil, nil, err
		}
		changed = append(changed, compare(of.folder, version, ran, now)...)
	}
	return now, changed, nil
}

// compare returns those of a folder's files that ran, up to a version, and are
// others now. The last ones may be gone, as where git has another branch: they
// are kept in now, for when they are back.
func compare(folder string, version int64, ran, now map[string]string) (changed []string) {
	var latest int64
	for file := range now {
		if path.Dir(file) == folder {
			latest = max(latest, number(file))
		}
	}
	for file, sum := range ran {
		_, there := now[file]
		switch n := number(file); {
		case path.Dir(file) != folder, n > version, now[file] == sum:
		case !there && n > latest:
			now[file] = sum
		default:
			changed = append(changed, file)
		}
	}
	return changed
}

// versionOf is 0 where nothing was migrated yet.
func versionOf(ctx context.Context, conn *pgx.Conn, query string) (version int64, err error) {
	err = conn.QueryRow(ctx, query).Scan(&version)
	if missing := (*pgconn.PgError)(nil); errors.As(err, &missing) && missing.Code == "42P01" { // undefined_table
		return 0, nil
	}
	return version, err
}

// sums adds the checksum of each migration of a folder, which may be nil.
func sums(folder string, files fs.FS, into map[string]string) error {
	if files == nil {
		return nil
	}
	names, err := fs.Glob(files, "*.up.sql")
	for _, name := range names {
		content, readErr := fs.ReadFile(files, name)
		sum := sha256.Sum256(content)
		into[folder+"/"+name] = hex.EncodeToString(sum[:])
		err = errors.Join(err, readErr)
	}
	return err
}

// number is the version that a migration's file brings.
func number(file string) int64 {
	text, _, _ := strings.Cut(path.Base(file), "_")
	n, _ := strconv.ParseInt(text, 10, 64)
	return n
}
