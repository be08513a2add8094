//go:build !production

package dev

import (
	"crypto/rand"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"example.com/subproduct/handlers/config"
	"example.com/subproduct/handlers/dev/simulator"
	"example.com/subproduct/tenancy"
	"example.com/subproduct/tenancy/commands/flags"
)

// configure wires the app and the simulator to each other, with secrets that
// are made up anew for each run.
func (d *stack) configure() (err error) {
	appURL, platformURL := simulator.Address(d.app), simulator.Address(d.console)
	apiKey, secret := rand.Text(), rand.Text()
	settings := map[string]string{
		"DATABASE_URL": d.postgres.URL(database), "APP_SLUG": d.product.Slug, "PUBLIC_URL": appURL,
		"PLATFORM_URL": platformURL, "PLATFORM_BASE_URL": platformURL,
		"PLATFORM_API_KEY": apiKey, "WEBHOOK_SECRET": secret, "SHUTDOWN_TIMEOUT": "5s", "DRAIN_DELAY": "0s",
	}
	own := func(name string) (string, bool) { v, ok := settings[name]; return v, ok }
	env, err := config.WithDotEnv(d.env, ".env")
	if err != nil {
		return flags.Usage(err)
	}
	if d.config, err = config.LoadDev(own, env, d.product.Settings); err != nil {
		return flags.Usage(fmt.Errorf("a setting of the product is not usable:\n%w", err))
	}
	d.platform, err = simulator.New(simulator.Options{
		PublicURL:    platformURL,
		StateFile:    d.options.stateFile(),
		Logger:       d.log,
		SchemaScript: func() (string, error) { return tenancy.SchemaScript(d.product.TenantSchema) },
		Product: simulator.Product{
			Slug: d.product.Slug, Name: d.product.Name, APIKey: apiKey, WebhookSecret: secret,
			WebhookURL: appURL + "/webhooks/platform", CallbackURL: d.config.CallbackURL(), HealthURL: appURL + "/healthz",
		},
	})
	return err
}

// sourceTree is the source tree, when dev runs in it: a change of a page or an
// asset shows at the next reload.
func sourceTree() fs.FS {
	for _, dir := range []string{"templates", "static"} {
		if _, err := os.Stat(filepath.Join(dir, dir+".go")); err != nil {
			return nil
		}
	}
	return os.DirFS(".")
}
