// Package static holds the files browsers fetch as they are: the style sheet and the icon.
package static

import "embed"

// FS is every file, by name.
//
//go:embed *.css *.svg
var FS embed.FS
