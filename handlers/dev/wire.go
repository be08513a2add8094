//go:build !production

package dev

import (
	"crypto/rand"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"

	"example.com/subproduct/handlers/config"
	"example.com/subproduct/handlers/dev/simulator"
	"example.com/subproduct/schema"
	"example.com/subproduct/tenancy"
)

const appSlug = "subproduct"

// configure wires the app and the simulator to each other, with secrets that
// are made up anew for each run.
func (d *desk) configure() (err error) {
	appURL, platformURL := address(d.app), address(d.console)
	apiKey, secret := rand.Text(), rand.Text()
	settings := map[string]string{
		"DATABASE_URL": d.postgres.URL(database), "APP_SLUG": appSlug, "PUBLIC_URL": appURL,
		"PLATFORM_URL": platformURL, "PLATFORM_BASE_URL": platformURL,
		"PLATFORM_API_KEY": apiKey, "WEBHOOK_SECRET": secret, "SHUTDOWN_TIMEOUT": "5s",
	}
	d.config, err = config.Load(func(name string) (string, bool) { v, ok := settings[name]; return v, ok })
	if err != nil {
		return fmt.Errorf("dev: %w", err)
	}
	d.platform, err = simulator.New(simulator.Options{
		PublicURL:    platformURL,
		StateFile:    d.flags.stateFile(),
		Logger:       d.log,
		SchemaScript: schemaScript,
		Product: simulator.Product{
			Slug: appSlug, Name: "Subproduct", APIKey: apiKey, WebhookSecret: secret,
			WebhookURL: appURL + "/webhooks/platform", CallbackURL: d.config.CallbackURL(), HealthURL: appURL + "/healthz",
		},
	})
	return err
}

// address is how a browser on this machine reaches a listener.
func address(l net.Listener) string {
	a, ok := l.Addr().(*net.TCPAddr)
	if !ok {
		return "http://" + l.Addr().String()
	}
	if a.IP.IsUnspecified() {
		return fmt.Sprintf("http://localhost:%d", a.Port)
	}
	return "http://" + a.String()
}

// sourceTemplates are the templates of the source tree, when dev runs in it: a
// change there shows at the next reload.
func sourceTemplates() (pages fs.FS, live bool) {
	if _, err := os.Stat(filepath.Join("templates", "layout.html")); err != nil {
		return nil, false
	}
	return os.DirFS("templates"), true
}

// schemaScript is the product's own, for the console's check of its field.
func schemaScript() (string, error) { return tenancy.SchemaScript(schema.Tenant()) }
