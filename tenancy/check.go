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
