package clone

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
)

// steps are what shows that a product stands.
var steps = [][]string{{"build", "./..."}, {"test", "./handlers"}}

// check builds the product in dir and runs its suite.
func check(ctx context.Context, dir string, out io.Writer) error {
	for _, step := range steps {
		if err := goRun(ctx, dir, out, step...); err != nil {
			return err
		}
	}
	return nil
}

// goRun runs the go command. What it says goes to out, and everything stays as
// it is when it fails.
func goRun(ctx context.Context, dir string, out io.Writer, args ...string) error {
	line := "go " + strings.Join(args, " ")
	fmt.Fprintln(out, "\n"+line+" …")
	command := exec.CommandContext(ctx, "go", args...)
	command.Dir, command.Stdout, command.Stderr = dir, out, out
	var failed *exec.ExitError
	if err := command.Run(); errors.As(err, &failed) {
		rest := "go build ./... && go test ./handlers"
		if args[0] == "mod" {
			rest = line + " && " + rest
		}
		return fmt.Errorf("%s failed, see above; the files stay as they are now: mend them, then %s, and commit", line, rest)
	} else if err != nil {
		return fmt.Errorf("%s: %w", line, err)
	}
	return nil
}
