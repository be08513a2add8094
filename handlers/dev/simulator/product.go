package simulator

import (
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
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.state.Product
}

// SetProduct replaces the registration.
func (p *Platform) SetProduct(product Product) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.state.Product = product
	p.touch()
}

// apiProduct changes the registration's fields that are given; secrets go in
// and never come out, so that an empty one leaves it as it is.
func (p *Platform) apiProduct(_ *http.Request, in struct {
	Slug          *string `json:"slug"`
	Name          *string `json:"name"`
	APIKey        *string `json:"apiKey"`
	WebhookSecret *string `json:"webhookSecret"`
	WebhookURL    *string `json:"webhookUrl"`
	CallbackURL   *string `json:"callbackUrl"`
	HealthURL     *string `json:"healthUrl"`
}) (Product, error) {
	product := p.Product()
	for _, secret := range []**string{&in.APIKey, &in.WebhookSecret} {
		if *secret != nil && **secret == "" {
			*secret = nil
		}
	}
	for to, from := range map[*string]*string{
		&product.Slug: in.Slug, &product.Name: in.Name, &product.APIKey: in.APIKey, &product.WebhookSecret: in.WebhookSecret,
		&product.WebhookURL: in.WebhookURL, &product.CallbackURL: in.CallbackURL, &product.HealthURL: in.HealthURL,
	} {
		if from != nil {
			*to = *from
		}
	}
	if err := product.check(); err != nil {
		return Product{}, err
	}
	p.SetProduct(product)
	return product.withoutSecrets(), nil
}

func (p Product) withoutSecrets() Product {
	p.APIKey, p.WebhookSecret = "", ""
	return p
}

func (p Product) check() error {
	for name, address := range map[string]string{"webhookUrl": p.WebhookURL, "callbackUrl": p.CallbackURL, "healthUrl": p.HealthURL} {
		if u, err := url.Parse(address); address != "" && (err != nil || origin(u) == "") {
			return fmt.Errorf("%w: %s is to be an http or https address", ErrInvalid, name)
		}
	}
	return nil
}

// publicURL is where the simulator is reached, as far as it was told.
func (p *Platform) publicURL(r *http.Request) string {
	if p.options.PublicURL != "" {
		return p.options.PublicURL
	}
	return (&url.URL{Scheme: "http", Host: r.Host}).String()
}
