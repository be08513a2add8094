package simulator

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
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

// ScriptCheck compares the "Schema script" field (contract, tenant schema rule
// 4) with the product's own script.
type ScriptCheck struct {
	Known bool   `json:"known"`           // there is something to compare with
	Same  bool   `json:"same"`            // line for line, but for line endings and blank ends
	Line  int    `json:"line,omitempty"`  // the first one that differs, from 1
	Error string `json:"error,omitempty"` // why the product's own could not be had
}

// scriptInput fills the field; own is compared with it.
type scriptInput struct {
	Script string `json:"script"`
	Own    string `json:"own"`
}

// saveScript is POST /_sim/schema-script.
func (p *Platform) saveScript(_ *http.Request, in scriptInput) (ScriptCheck, error) {
	unlock := p.change()
	p.state.SchemaScript = in.Script
	unlock()
	return p.checkScript(in.Own), nil
}

// checkScript compares the field with own or, when that is empty, with what
// Options.SchemaScript returns now.
func (p *Platform) checkScript(own string) (c ScriptCheck) {
	if own == "" && p.options.SchemaScript != nil {
		var err error
		if own, err = p.options.SchemaScript(); err != nil {
			return ScriptCheck{Error: fmt.Sprintf("the product's own script: %v", err)}
		}
	}
	if own == "" {
		return c
	}
	field, wanted := lines(p.snapshot().Script), lines(own)
	if slices.Equal(field, wanted) {
		return ScriptCheck{Known: true, Same: true}
	}
	for c.Line < min(len(field), len(wanted)) && field[c.Line] == wanted[c.Line] {
		c.Line++
	}
	return ScriptCheck{Known: true, Line: c.Line + 1}
}

// lines drops what a form's text area does to a text.
func lines(text string) []string {
	lines := strings.Split(strings.TrimRight(text, " \t\r\n"), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " \t\r")
	}
	return lines
}
