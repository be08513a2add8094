package tenancy

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// transactionControl are the first words of statements that would end the
// transaction in which all files of a tenant run, or begin another.
var transactionControl = []string{"begin", "start", "commit", "end", "rollback", "abort", "savepoint", "release"}

// outsideTransactions are statements that PostgreSQL refuses inside one, with
// what to do instead.
var outsideTransactions = map[string]string{
	`^(create|drop)\s+(unique\s+)?index\s+concurrently`: "write it without CONCURRENTLY: it locks one tenant's table alone (schema/README.md, big tables)",
	`^reindex\s.*\bconcurrently`:                        "it is no migration: run it by hand",
	`^vacuum`:                                           "it is no migration: run it by hand",
}

// checkFile refuses what would break the promise that a tenant's migration is
// all or nothing.
func checkFile(file migration) error {
	for _, statement := range splitSQL(file.sql) {
		lower := strings.ToLower(statement)
		first := lower[:wordEnd(lower)]
		if slices.Contains(transactionControl, first) || strings.HasPrefix(lower, "prepare transaction") {
			return fmt.Errorf("%s: no transaction control here (%s): all files of a tenant run in one transaction", file.name, strings.ToUpper(first))
		}
		for pattern, instead := range outsideTransactions {
			if regexp.MustCompile(pattern).MatchString(lower) {
				return fmt.Errorf("%s: %.60q cannot run in a transaction; %s", file.name, statement, instead)
			}
		}
	}
	return nil
}

var makesExtension = regexp.MustCompile(`(?i)^create\s+extension\b`)

// checkTenants refuses an extension in a tenant's file: there is one for the whole
// database, and it would lie in the schema of the first tenant, and go with that.
func (m *migrations) checkTenants() error {
	for _, file := range m.after(0) {
		if slices.ContainsFunc(splitSQL(file.sql), makesExtension.MatchString) {
			return fmt.Errorf("%s: CREATE EXTENSION belongs in schema/shared: all tenants use the same one, and here it would be dropped with the first that is purged", file.name)
		}
	}
	return nil
}
