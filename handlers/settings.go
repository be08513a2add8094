package handlers

import "example.com/subproduct/handlers/config"

// Here stand the product's own settings: environment variables, typed, with
// their defaults. They are read before anything starts, for the server, dev,
// tests and commands; what is wrong with them is named together with what is
// wrong with the template's. A secret may come from a file too: NAME_FILE. The
// last argument of a Required one stands in for it in dev and tests.
//
//	type settings struct {
//		apiKey  config.Secret
//		perPage int
//	}
//
//	func (s *settings) read(r *config.Reader) {
//		s.apiKey = r.RequiredSecret("MAIL_API_KEY", "key-for-dev")
//		s.perPage = r.Int("NOTES_PER_PAGE", 100)
//	}

type settings struct{}

func (s *settings) read(*config.Reader) {}
