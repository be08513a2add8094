package conformance

import "example.com/subproduct/handlers/config"

// environment reads the product's registration, which must be the target's, and
// says what is missing.
func (s *settings) environment(env config.Lookup) error {
	r := config.NewReader(env)
	s.appSlug = r.RequiredText("APP_SLUG", "")
	s.apiKey = r.RequiredSecret("PLATFORM_API_KEY", "").Reveal()
	s.secret = r.RequiredSecret("WEBHOOK_SECRET", "").Reveal()
	return r.Err()
}
