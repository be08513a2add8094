// Package dev is the development commands: a private PostgreSQL, a platform
// simulator and the app, wired to each other; the simulator alone; the check of a
// product against the contract; what makes a clone of the template a product and
// upgrades it; and the generator of resources. A build with the tag production
// leaves all of it out.
package dev
