package tenancy

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"strings"
)

// SchemaScript is the migrations of a tenant's schema as one SQL script, for the
// platform's "Schema script" field (contract, tenant schema rules 3 and 4). It is
// to be run on an empty schema with the search_path already set, and makes the
// same catalog as Provision does, the version row included. Its first line
// carries the version and a checksum of what follows.
func SchemaScript(tenant fs.FS) (string, error) {
	files, err := readMigrations(tenant)
	if err != nil {
		return "", fmt.Errorf("schema/tenant: %w", err)
	}
	var body strings.Builder
	body.WriteString("CREATE TABLE schema_migrations (version bigint NOT NULL PRIMARY KEY, dirty boolean NOT NULL);\n")
	for _, file := range files.after(-1) { // all of them
		fmt.Fprintf(&body, "\n-- %s\n%s", file.name, terminated(file.sql))
	}
	if files.latest > 0 {
		fmt.Fprintf(&body, "\nINSERT INTO schema_migrations (version, dirty) VALUES (%d, false);\n", files.latest)
	}
	sum := sha256.Sum256([]byte(body.String()))
	return fmt.Sprintf("-- Tenant schema, version %d, sha256 %s\n"+
		"-- Run it in one transaction, with search_path set to the tenant's schema and then public.\n\n%s",
		files.latest, hex.EncodeToString(sum[:]), body.String()), nil
}

// terminated ends a file's last statement, behind whatever comment ends it.
func terminated(sql string) string {
	sql = strings.TrimRight(sql, " \t\r\n")
	if strings.HasSuffix(sql, ";") {
		return sql + "\n"
	}
	return sql + "\n;\n"
}

// SameScript reports whether two texts are one script: line ends and white
// space at the ends of lines do not count, for a form may change them.
func SameScript(a, b string) bool { return normalScript(a) == normalScript(b) }

func normalScript(s string) string {
	lines := strings.Split(strings.TrimPrefix(s, "\ufeff"), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " \t\r")
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}
