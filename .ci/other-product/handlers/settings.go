package handlers

import "example.com/subproduct/handlers/config"

type settings struct {
	currency string
	key      config.Secret
}

func (s *settings) read(r *config.Reader) {
	s.currency = r.RequiredText("ORDERS_CURRENCY", "EUR")
	s.key = r.RequiredSecret("ORDERS_KEY", "key-for-dev")
}
