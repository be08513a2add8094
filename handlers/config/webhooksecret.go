package config

// LoadWebhookSecret reads what a command that signs events needs, and nothing
// else: WEBHOOK_SECRET, or the file of WEBHOOK_SECRET_FILE.
func LoadWebhookSecret(env Lookup) (Secret, error) {
	r := &reader{env: env}
	s := newSecret(r.secret("WEBHOOK_SECRET", required))
	return s, r.err()
}
