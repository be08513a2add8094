package clone

import (
	"errors"
	"strings"

	"golang.org/x/mod/semver"
)

// newsFile names each break of the template's API, newest version first, under
// headings like "## 1.2.0". The newest is the template's version.
const newsFile = "handlers/server/CHANGES.md"

// versionOf is the version of a template.
func versionOf(t tree) (string, error) {
	for _, section := range sections(t) {
		return section.version, nil
	}
	return "", errors.New("this is not the template: it has no " + newsFile + " with a version")
}

// section is what CHANGES.md says of one version.
type section struct{ version, text string }

func sections(t tree) (all []section) {
	for i, text := range strings.Split("\n"+string(t[newsFile].content), "\n## ") {
		version, _, _ := strings.Cut(text, "\n")
		if version = strings.TrimSpace(version); i > 0 && semver.IsValid("v"+version) {
			all = append(all, section{version, "## " + strings.TrimSpace(text)})
		}
	}
	return all
}

// newsSince is what CHANGES.md says of the versions after one.
func newsSince(t tree, version string) (text string) {
	for _, s := range sections(t) {
		if semver.Compare("v"+s.version, "v"+version) > 0 {
			text += "\n" + s.text + "\n"
		}
	}
	return text
}
