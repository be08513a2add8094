//go:build !production

package dev

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"

	"example.com/subproduct/handlers/config"
	"example.com/subproduct/tenancy/commands/flags"
	"example.com/subproduct/tenancy/localpg"
)

const defaultData = ".dev"

type options struct {
	appAddr, platformAddr, data string
	reset, undo                 bool

	platformOnly                       bool
	platformURL                        string // how browsers and the product reach the simulator
	webhookURL, callbackURL, healthURL string // of the product, with platformOnly
}

func parseFlags(args []string, out io.Writer) (options, error) {
	var f options
	set := flag.NewFlagSet("dev", flag.ContinueOnError)
	set.StringVar(&f.appAddr, "app-addr", "127.0.0.1:8080", "where the app listens")
	set.StringVar(&f.platformAddr, "platform-addr", "127.0.0.1:8090", "where the platform simulator listens")
	set.StringVar(&f.data, "data", defaultData, "folder that keeps the data")
	set.BoolVar(&f.reset, "reset", false, "throw the data away first")
	set.BoolVar(&f.undo, "undo", false, "undo a migration that has changed since it ran, with its down file, for each tenant that has it; then it runs anew")
	set.BoolVar(&f.platformOnly, "platform-only", false, "the simulator alone, for a product that is started elsewhere; APP_SLUG, PLATFORM_API_KEY and WEBHOOK_SECRET are read or made up")
	set.StringVar(&f.platformURL, "platform-url", "", "with --platform-only: the simulator's address where the product spells it otherwise, as from inside a container")
	set.StringVar(&f.webhookURL, "webhook-url", "http://127.0.0.1:8080/webhooks/platform", "with --platform-only: the product's webhook endpoint")
	set.StringVar(&f.callbackURL, "callback-url", "http://127.0.0.1:8080/sso/callback", "with --platform-only: the product's callback address")
	set.StringVar(&f.healthURL, "health-url", "http://127.0.0.1:8080/healthz", "with --platform-only: the product's health-check URL")
	return f, flags.ParseOnly(set, args, out)
}

// logger has the lines of LOG_LEVEL; where that is not set, of level.
func (f options) logger(env config.Lookup, level slog.Level) *slog.Logger {
	if text, ok := env("LOG_LEVEL"); ok {
		_ = level.UnmarshalText([]byte(text))
	}
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level}))
}

// maxCopies bounds how many copies share one data folder.
const maxCopies = 10

// openData starts PostgreSQL on the data folder. Where a second copy of this
// program runs beside the first, and nobody chose its folder, it gets one of
// its own inside.
func (f *options) openData(ctx context.Context, log *slog.Logger) (*localpg.Server, error) {
	root := f.data
	for copyNumber := 1; ; copyNumber++ {
		server, err := localpg.Start(ctx, localpg.Options{DataDir: f.data, Logger: log})
		if !errors.Is(err, localpg.ErrInUse) {
			return server, err
		}
		if root != defaultData || copyNumber == maxCopies {
			return nil, fmt.Errorf("%w: another dev runs there; choose another folder with --data", err)
		}
		f.data = filepath.Join(root, "copy"+strconv.Itoa(copyNumber+1))
	}
}

// stateFile keeps the simulator's memory. Another product's is another file.
func (f *options) stateFile() string {
	if f.platformOnly {
		return filepath.Join(f.data, "platform-only.json")
	}
	return filepath.Join(f.data, "platform.json")
}
