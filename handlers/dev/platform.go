//go:build !production

package dev

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"example.com/subproduct/handlers/dev/simulator"
	"example.com/subproduct/handlers/health"
)

// servePlatform runs the simulator until ctx ends.
func (d *stack) servePlatform(ctx context.Context) error {
	server := &http.Server{Handler: d.platform.Handler(), ReadHeaderTimeout: 5 * time.Second}
	var running sync.WaitGroup
	defer running.Wait()
	running.Go(func() {
		if err := d.platform.Run(ctx); err != nil {
			d.log.Error("the simulator's state was not kept", "error", err)
		}
	})
	running.Go(func() {
		<-ctx.Done()
		_ = server.Close()
	})
	if err := server.Serve(d.console); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// demo are the tenants of a first start.
var demo = []struct {
	slug, name, plan string
	users            []simulator.User
}{
	{"acme", "Acme Ltd", "Pro", []simulator.User{
		{ID: "u-ada", Email: "ada@acme.example"}, {ID: "u-alan", Email: "alan@acme.example"}}},
	{"globex", "Globex Inc", "Basic", []simulator.User{{ID: "u-grace", Email: "grace@globex.example"}}},
}

// welcome waits for the app, subscribes the demo tenants at the first start,
// and prints where to go.
func (d *stack) welcome(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	if err := awaitHealth(ctx, d.app.Addr().String()); err != nil {
		return fmt.Errorf("the app did not get ready: %w", err)
	}
	if len(d.platform.Tenants()) == 0 {
		for _, t := range demo {
			d.platform.AddTenant(t.slug, t.name, "", t.users...)
			delivery, err := d.platform.Subscribe(ctx, t.slug, t.plan)
			if err != nil {
				return err
			}
			if delivery.Status != simulator.DeliveryDelivered {
				fmt.Fprintf(d.out, "The subscription of %s was not accepted yet; see the console.\n", t.slug)
			}
		}
	}
	d.printAddresses()
	return nil
}

func awaitHealth(ctx context.Context, addr string) error {
	for {
		err := health.Check(ctx, addr)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func (d *stack) printAddresses() {
	fmt.Fprintf(d.out, `
Ready. Open

  %-28s  the app: sign in, and the platform asks who you are
  %-28s  the platform's console: subscribe, cancel, break things

Data is kept in %s. To look at it:  psql '%s'
Ctrl-C ends everything.
`, simulator.Address(d.app)+"/", simulator.Address(d.console)+"/", d.options.data, d.config.DatabaseURL.Reveal())
}
