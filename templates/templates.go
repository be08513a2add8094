// Package templates holds the pages. Every page is parsed together with
// layout.html and executed as "layout.html"; it defines "title" and "main", and
// "head" if it needs one.
//
// Pages work without JavaScript, and the content security policy allows no inline
// script or style: looks come from static/app.css, which lists its classes at the
// top. Scripts of your own are files of static/, and run with Scripts: true in
// handlers/product.go (see handlers/server/RECIPES.md).
//
// A file whose name begins with _ is no page but a part, which every page may show:
// {{template "_part.html" .}}. Of the template's own there is _pager.html.
//
// Two functions are there besides Go's own: asset "app.css" is the file's
// address, and date t is a <time> element. Your own are added as Funcs in
// handlers/product.go.
package templates

import "embed"

// FS is every page, by file name. The whole folder is embedded, so that it may
// hold no page at all; only *.html are read.
//
//go:embed *
var FS embed.FS
