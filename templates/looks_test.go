package templates_test

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"
)

// looks are the words that make a class known: each class of a style sheet, and
// whatever a script mentions.
type looks struct {
	styles bool // there is a style sheet at all; else no class is judged
	known  map[string]bool
}

var (
	cssComment  = regexp.MustCompile(`(?s)/\*.*?\*/`)
	cssSelector = regexp.MustCompile(`\.((?:[\w-]|\\.|[^\x00-\x7F])+)`)
	scriptWord  = regexp.MustCompile(`[\w-]+`)
)

// readLooks reads every style sheet and script below the folder.
func readLooks(t *testing.T, folder string) looks {
	t.Helper()
	var styles, scripts strings.Builder
	files := os.DirFS(folder)
	err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := fs.ReadFile(files, name)
		switch path.Ext(name) {
		case ".css":
			styles.Write(content)
		case ".js", ".mjs":
			scripts.Write(append(content, '\n'))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return looksOf(styles.String(), scripts.String())
}

func looksOf(styles, scripts string) looks {
	l := looks{styles: styles != "", known: map[string]bool{}}
	for _, m := range cssSelector.FindAllStringSubmatch(cssComment.ReplaceAllString(styles, " "), -1) {
		l.known[strings.ReplaceAll(m[1], `\`, "")] = true
	}
	for _, word := range scriptWord.FindAllString(scripts, -1) {
		l.known[word] = true
	}
	return l
}

// knows reports whether a class does anything; one that an action writes may.
func (l looks) knows(class string) bool {
	return !l.styles || l.known[class] || strings.Contains(class, action)
}
