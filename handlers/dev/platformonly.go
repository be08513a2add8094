//go:build !production

package dev

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"

	"example.com/subproduct/handlers/config"
	"example.com/subproduct/handlers/dev/simulator"
	"example.com/subproduct/tenancy/commands/flags"
)

// runPlatformOnly serves the simulator alone, for a product that is started
// elsewhere, in whatever language, until ctx ends.
func (d *stack) runPlatformOnly(ctx context.Context) (err error) {
	if err := d.listenPlatform(); err != nil {
		return err
	}
	defer d.console.Close()
	d.options.platformURL = cmp.Or(d.options.platformURL, simulator.Address(d.console))
	if d.options.reset {
		if err := os.RemoveAll(d.options.stateFile()); err != nil {
			return fmt.Errorf("reset: %w", err)
		}
	}
	// PostgreSQL's own user must be able to pass; the file itself is 0600.
	if err := os.MkdirAll(filepath.Dir(d.options.stateFile()), 0o755); err != nil {
		return err
	}
	given, err := d.registration()
	if err != nil {
		return err
	}
	d.platform, err = simulator.New(simulator.Options{
		PublicURL: d.options.platformURL, StateFile: d.options.stateFile(), Logger: d.log, Product: given,
	})
	if err != nil {
		return err
	}
	d.printRegistration(given, d.invent())
	return d.servePlatform(ctx)
}

// registration is the product as flags and environment describe it.
func (d *stack) registration() (p simulator.Product, err error) {
	p = simulator.Product{WebhookURL: d.options.webhookURL, CallbackURL: d.options.callbackURL, HealthURL: d.options.healthURL}
	r := config.NewReader(d.env)
	p.Slug = r.Text("APP_SLUG", d.product.Slug)
	p.APIKey, p.WebhookSecret = r.Secret("PLATFORM_API_KEY").Reveal(), r.Secret("WEBHOOK_SECRET").Reveal()
	if err := r.Err(); err != nil {
		return p, flags.Usage(err)
	}
	p.Name = p.Slug
	return p, nil
}

// invent makes up the secrets that neither the environment nor an earlier run
// has given, and returns the product as it is registered now.
func (d *stack) invent() simulator.Product {
	p := d.platform.Product()
	for _, secret := range []*string{&p.APIKey, &p.WebhookSecret} {
		if *secret == "" {
			*secret = rand.Text()
		}
	}
	d.platform.SetProduct(p)
	return p
}

// printRegistration says where to go and what the product must be started
// with. A secret that was given is not shown.
func (d *stack) printRegistration(given, p simulator.Product) {
	shown := func(given, made string) string {
		if given != "" {
			return "(as in the environment)"
		}
		return made
	}
	fmt.Fprintf(d.out, `
Ready. Open

  %[1]s/  the platform's console: subscribe, cancel, break things (it listens on %[2]s)

Start your product with

  PLATFORM_URL=%[1]s
  PLATFORM_BASE_URL=%[1]s
  APP_SLUG=%[3]s
  PLATFORM_API_KEY=%s
  WEBHOOK_SECRET=%s

It is expected at  %s
                   %s
                   %s
Ctrl-C ends the platform.
`, d.options.platformURL, d.console.Addr(), p.Slug, shown(given.APIKey, p.APIKey), shown(given.WebhookSecret, p.WebhookSecret), p.WebhookURL, p.CallbackURL, p.HealthURL)
}
