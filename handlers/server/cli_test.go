package server_test

import (
	"context"
	"errors"
	"flag"
	"strings"
	"testing"

	"example.com/subproduct/handlers/handlertest"
	"example.com/subproduct/handlers/handlertest/fixture"
	"example.com/subproduct/handlers/server"
	"example.com/subproduct/tenancy/commands/flags"
)

// commandLine is a command line of the fixture, and what it prints.
func commandLine(env map[string]string) (server.CLI, *strings.Builder) {
	var out strings.Builder
	return server.CLI{
		Product: fixture.Product(), Stdout: &out, Version: "v1",
		Env: func(name string) (string, bool) { v, ok := env[name]; return v, ok },
	}, &out
}

func TestCLI_ACommandOfTheProducts(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{})
	b := site.SignIn(t, "acme")
	b.API("POST", "/api/items", `{"label":"one"}`)
	c, out := commandLine(map[string]string{"DATABASE_URL": site.Database, "FIXTURE_GREETING": "Hello"})
	if err := c.Own(c.Product.Commands[0])(t.Context(), []string{"--tenant", "acme"}); err != nil || out.String() != "1\n" {
		t.Errorf("%q, %v", out.String(), err)
	}
	for name, args := range map[string][]string{
		"an unknown flag": {"--nonsense"}, "a slug that is none": {"--tenant", "/"}, "what the command refuses": {"--tenant", "acme", "all"},
	} {
		if err := c.Own(c.Product.Commands[0])(t.Context(), args); !errors.Is(err, flags.ErrUsage) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What a product requires is asked for together with what the template does, where
// code of the product's runs; an operator's look at the data needs none of it.
func TestCLI_TheProductsSettingsAreAskedForWhereItsCodeRuns(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{})
	site.Subscribe(t, "acme")
	c, _ := commandLine(map[string]string{"DATABASE_URL": site.Database})
	for _, call := range []struct {
		run  func(context.Context, []string) error
		args string
	}{
		{c.Jobs, "list"}, {c.Events, "list"}, {c.Tenants, "list"}, {c.Tenants, "cancel acme"}, {c.Tenants, "restore acme"}, {c.Migrate, "--status"}, {c.Migrate, ""},
	} {
		if err := call.run(t.Context(), strings.Fields(call.args)); err != nil {
			t.Errorf("%s: %v", call.args, err)
		}
	}
	c, _ = commandLine(nil)
	for name, run := range map[string]func(context.Context, []string) error{
		"provision acme": c.Tenants, "--tenant acme run tidy": c.Jobs, "--tenant acme": c.Own(c.Product.Commands[0]),
	} {
		err := run(t.Context(), strings.Fields(name))
		if !errors.Is(err, flags.ErrUsage) || !strings.Contains(err.Error(), "DATABASE_URL") || !strings.Contains(err.Error(), "FIXTURE_GREETING is not set") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A wrong call is said before any setting is asked for.
func TestCLI_AWrongCallComesBeforeTheSettings(t *testing.T) {
	t.Parallel()
	c, _ := commandLine(nil)
	for args, run := range map[string]func(context.Context, []string) error{
		"run": c.Jobs, "run chore --tenant /": c.Jobs, "retry x": c.Jobs, "list --status lost": c.Jobs, "fly 2": c.Jobs, "": c.Jobs,
		"provision": c.Tenants, "provision /": c.Tenants, "purge acme": c.Tenants, "fly acme": c.Tenants,
		"retry": c.Events, "show x": c.Events, "list --limit 0": c.Events, "fly 1": c.Events, "--jobs 0": c.Migrate,
	} {
		if err := run(t.Context(), strings.Fields(args)); !errors.Is(err, flags.ErrUsage) || strings.Contains(err.Error(), "not set") {
			t.Errorf("%s: %v", args, err)
		}
	}
}

// Help goes to standard output and needs no configuration. It says what stands
// beside the flags.
func TestCLI_Help(t *testing.T) {
	t.Parallel()
	c, out := commandLine(nil)
	for _, command := range []struct {
		flag string
		run  func(context.Context, []string) error
	}{
		{"serve", c.Serve}, {"-canary", c.Migrate}, {"-yes", c.Tenants}, {"-all-failed", c.Events}, {"-to", c.SendEvent},
		{"usage: events list", c.Events}, {"retry ID", c.Events}, {"usage: jobs list", c.Jobs}, {"run NAME", c.Jobs}, {"usage: send-event TYPE SLUG", c.SendEvent},
		{"-check", c.SchemaScript}, {"-json", c.Doctor}, {"healthcheck", c.Healthcheck}, {"version", c.PrintVersion}, {"-tenant", c.Own(c.Product.Commands[0])},
		{"count-items: how many items a tenant has; --tenant SLUG\n", c.Own(c.Product.Commands[0])},
	} {
		for _, word := range []string{"--help", "-h"} {
			out.Reset()
			if err := command.run(t.Context(), []string{word}); !errors.Is(err, flag.ErrHelp) || !strings.Contains(out.String(), command.flag) {
				t.Errorf("%s of the command with %s: %v, %q", word, command.flag, err, out.String())
			}
		}
	}
}

func TestCLI_VersionTakesNoArguments(t *testing.T) {
	t.Parallel()
	c, out := commandLine(nil)
	if err := c.PrintVersion(t.Context(), nil); err != nil || out.String() != "v1\n" {
		t.Errorf("%q, %v", out.String(), err)
	}
	if err := c.PrintVersion(t.Context(), []string{"foo"}); !errors.Is(err, flags.ErrUsage) {
		t.Errorf("version foo: %v", err)
	}
}
