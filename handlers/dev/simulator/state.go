package simulator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// state is what the state file keeps. Sessions, codes and faults are left out:
// a restart signs everybody out and mends everything.
type state struct {
	Given        Product      `json:"given"` // Options.Product at the last start
	Product      Product      `json:"product"`
	Sequence     int          `json:"sequence"`
	Tenants      []*Tenant    `json:"tenants"`
	Users        []*User      `json:"users"`
	Deliveries   []*record    `json:"deliveries"` // oldest first
	Probes       []Probe      `json:"probes"`     // oldest first
	Orders       []*Order     `json:"orders"`
	Invoices     []*Invoice   `json:"invoices"`
	SchemaScript string       `json:"schemaScript"`
	Keys         []signingKey `json:"keys"` // the last one signs
}

// number returns the next short identifier of a kind; p.mu is held.
func (s *state) number(kind string) string {
	s.Sequence++
	return fmt.Sprintf("%s_%d", kind, s.Sequence)
}

func (p *Platform) load() error {
	if p.options.StateFile != "" {
		text, err := os.ReadFile(p.options.StateFile)
		if err == nil {
			err = json.Unmarshal(text, &p.state)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("state file: %w", err)
		}
	}
	p.state.Product = mergeProduct(p.state.Given, p.options.Product, p.state.Product)
	p.state.Given = p.options.Product
	for _, r := range p.state.Deliveries {
		r.restore()
	}
	return p.save() // an unwritable file is found now, not after an hour of work
}

// mergeProduct keeps what the console changed, except where the program is now
// started with something else than last time.
func mergeProduct(before, given, kept Product) Product {
	keep := func(before, given string, kept *string) {
		if *kept == "" || given != before {
			*kept = given
		}
	}
	keep(before.Slug, given.Slug, &kept.Slug)
	keep(before.Name, given.Name, &kept.Name)
	keep(before.APIKey, given.APIKey, &kept.APIKey)
	keep(before.WebhookSecret, given.WebhookSecret, &kept.WebhookSecret)
	keep(before.WebhookURL, given.WebhookURL, &kept.WebhookURL)
	keep(before.CallbackURL, given.CallbackURL, &kept.CallbackURL)
	keep(before.HealthURL, given.HealthURL, &kept.HealthURL)
	return kept
}

// keepState writes changes to the state file soon after they happen, many in
// one go.
func (p *Platform) keepState(ctx context.Context) {
	const settle = 250 * time.Millisecond
	for p.options.StateFile != "" {
		p.mu.Lock()
		changed := p.changed
		p.mu.Unlock()
		if err := p.save(); err != nil {
			p.log.Error("simulator state not saved", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-changed:
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(settle):
		}
	}
}

// save writes the state file: a new file beside it, then a rename, so that a
// reader (or a crash) never meets half of one.
func (p *Platform) save() error {
	if p.options.StateFile == "" {
		return nil
	}
	p.mu.Lock()
	text, err := json.MarshalIndent(p.state, "", "\t")
	p.mu.Unlock()
	if err != nil {
		return fmt.Errorf("state file: %w", err)
	}
	if err := writeAtomically(p.options.StateFile, text); err != nil {
		return fmt.Errorf("state file: %w", err)
	}
	return nil
}

// writeAtomically relies on os.CreateTemp for the mode 0600.
func writeAtomically(path string, text []byte) error {
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name()) // does nothing after the rename
	_, err = file.Write(text)
	if err := errors.Join(err, file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}
