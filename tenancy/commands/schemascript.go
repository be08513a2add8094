package commands

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"example.com/subproduct/tenancy"
	"example.com/subproduct/tenancy/commands/flags"
)

const schemaScriptUsage = "schema-script [--check FILE]"

// SchemaScript prints the tenant schema as one script, or with --check says
// whether a text is still that script: ErrFailed when it is not.
func SchemaScript(tenant fs.FS, args []string, stdout io.Writer) error {
	set := flags.New("schema-script", schemaScriptUsage)
	check := set.String("check", "", "file with the text to compare; - for standard input")
	if err := flags.ParseOnly(set, args, stdout); err != nil {
		return err
	}
	script, err := tenancy.SchemaScript(tenant)
	if err != nil {
		return err
	}
	if *check == "" {
		_, err := io.WriteString(stdout, script)
		return err
	}
	text, err := readFile(*check)
	if err != nil {
		return err
	}
	if !tenancy.SameScript(script, text) {
		return fmt.Errorf("%w: it is not the current script\n  it begins: %s\n  current:   %s", ErrFailed, firstLine(text), firstLine(script))
	}
	fmt.Fprintf(stdout, "current: %s\n", firstLine(script))
	return nil
}

func readFile(name string) (string, error) {
	if name == "-" {
		text, err := io.ReadAll(os.Stdin)
		return string(text), err
	}
	text, err := os.ReadFile(name) //nolint:gosec // the operator names it
	return string(text), err
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimLeft(s, "\n"), "\n")
	return strings.TrimPrefix(strings.TrimRight(line, "\r"), "-- ")
}
