package clone

import (
	"go/version"
	"maps"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/semver"
)

// goModule takes the template's requirements over into the product's go.mod
// where they are higher, and their checksums into go.sum. `go mod tidy` drops
// what nobody needs any more.
func (u *upgrade) goModule() error {
	mod, err := mergeGoMod(u.product["go.mod"].content, u.template["go.mod"].content)
	if err != nil {
		return err
	}
	for path, content := range map[string][]byte{"go.mod": mod, "go.sum": mergeGoSum(u.product["go.sum"].content, u.template["go.sum"].content)} {
		if string(content) != string(u.product[path].content) {
			u.changes[path] = &file{content, 0o644}
		}
	}
	return nil
}

func mergeGoMod(ours, theirs []byte) ([]byte, error) {
	mod, err := modfile.Parse("go.mod", ours, nil)
	if err != nil {
		return nil, err
	}
	template, err := modfile.Parse("the template's go.mod", theirs, nil)
	if err != nil {
		return nil, err
	}
	have := map[string]string{}
	for _, r := range mod.Require {
		have[r.Mod.Path] = r.Mod.Version
	}
	for _, r := range template.Require {
		if had, ok := have[r.Mod.Path]; !ok {
			mod.AddNewRequire(r.Mod.Path, r.Mod.Version, r.Indirect)
		} else if semver.Compare(r.Mod.Version, had) > 0 {
			if err := mod.AddRequire(r.Mod.Path, r.Mod.Version); err != nil {
				return nil, err
			}
		}
	}
	if t := template.Go; t != nil && (mod.Go == nil || version.Compare("go"+t.Version, "go"+mod.Go.Version) > 0) {
		if err := mod.AddGoStmt(t.Version); err != nil {
			return nil, err
		}
	}
	mod.Cleanup()
	return modfile.Format(mod.Syntax), nil
}

func mergeGoSum(ours, theirs []byte) []byte {
	lines := map[string]bool{}
	for line := range strings.Lines(string(ours) + string(theirs)) {
		lines[line] = true
	}
	return []byte(strings.Join(slices.Sorted(maps.Keys(lines)), ""))
}
