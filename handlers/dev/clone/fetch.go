package clone

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"example.com/subproduct/tenancy/commands/flags"
)

// fetch returns a folder with the template's files: a clone of the repository
// at DIR or URL, or DIR itself where that is a copy without a history.
func fetch(ctx context.Context, work string, source []string) (string, error) {
	at := source[0]
	if _, err := os.Stat(filepath.Join(at, "go.mod")); err == nil && !hasGit(at) {
		if len(source) > 1 {
			return "", fmt.Errorf("%w: %s has no history, so there is no %s in it", flags.ErrUsage, at, source[1])
		}
		return at, nil
	}
	to := filepath.Join(work, "template")
	if _, err := git(ctx, ".", "clone", "--quiet", "--", at, to); err != nil {
		return "", err
	}
	if len(source) > 1 {
		if _, err := git(ctx, to, "checkout", "--quiet", source[1], "--"); err != nil {
			return "", err
		}
	}
	return to, nil
}
