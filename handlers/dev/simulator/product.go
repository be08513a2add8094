package simulator

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
)

// Product is the one sub-product under development, as it is registered here.
type Product struct {
	Slug          string `json:"slug"`
	Name          string `json:"name"`
	APIKey        string `json:"apiKey,omitempty"`
	WebhookSecret string `json:"webhookSecret,omitempty"`
	WebhookURL    string `json:"webhookUrl"`
	CallbackURL   string `json:"callbackUrl"`
	HealthURL     string `json:"healthUrl"`
}

// Product returns the registration as it is now.
func (p *Platform) Product() Product {
	defer p.lock()()
	return p.state.Product
}

// SetProduct replaces the registration.
func (p *Platform) SetProduct(product Product) {
	defer p.change()()
	p.state.Product = product
}

// saveProduct is POST /_sim/product: it changes the fields that are given. An
// empty secret leaves the secret as it is, and no secret is answered.
func (p *Platform) saveProduct(w http.ResponseWriter, r *http.Request) {
	before := p.Product()
	product := before.withoutSecrets()
	err := decode(w, r, &product)
	if err == nil {
		err = product.check()
	}
	if err == nil {
		product.APIKey = cmp.Or(product.APIKey, before.APIKey)
		product.WebhookSecret = cmp.Or(product.WebhookSecret, before.WebhookSecret)
		p.SetProduct(product)
	}
	p.answer(w, r, product.withoutSecrets(), err)
}

func (p Product) withoutSecrets() Product {
	p.APIKey, p.WebhookSecret = "", ""
	return p
}

func (p Product) check() error {
	for _, address := range []string{p.WebhookURL, p.CallbackURL, p.HealthURL} {
		if u, err := url.Parse(address); address != "" && (err != nil || origin(u) == "") {
			return fmt.Errorf("%w: %q is no http or https address", ErrInvalid, address)
		}
	}
	return nil
}

// merge takes the fields that the program is now started with, except where
// they are the same as at the last start: then the console's edits stay.
func (p *Product) merge(before, given Product) {
	old, now := before.fields(), given.fields()
	for i, field := range p.fields() {
		if *field == "" || *now[i] != *old[i] {
			*field = *now[i]
		}
	}
}

func (p *Product) fields() []*string {
	return []*string{&p.Slug, &p.Name, &p.APIKey, &p.WebhookSecret, &p.WebhookURL, &p.CallbackURL, &p.HealthURL}
}

// publicURL is where the simulator is reached, as far as it was told.
func (p *Platform) publicURL(r *http.Request) string {
	return cmp.Or(p.options.PublicURL, (&url.URL{Scheme: "http", Host: r.Host}).String())
}
