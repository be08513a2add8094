package handlers

import "example.com/subproduct/handlers/config"

// This file has the product's own settings: environment variables, typed, with
// their defaults. They are read before anything starts, for the server, dev,
// tests and the commands that run the product's code. What is wrong with them is
// named together with what is wrong with the template's, and .env.example is said
// to describe every setting: describe yours at its end. The last argument of a
// Required one stands in for it in dev and tests. A secret may come from a file
// too, NAME_FILE; Reveal returns its value, and everything else prints ***.
// server/README.md shows an example. Parts of the product that need them become
// methods of *settings: Routes: s.routes in product.go.

type settings struct{}

func (s *settings) read(*config.Reader) {}
