//go:build production

package dev

// These commands are not part of a production build.
var Init, Upgrade = notBuilt, notBuilt
