// Package static holds the files browsers fetch as they are: the style sheet and
// the icon.
package static

import "embed"

// FS is every file, by name. The whole folder is embedded, so that it may hold
// no asset at all; Go files and READMEs are not served.
//
//go:embed *
var FS embed.FS
