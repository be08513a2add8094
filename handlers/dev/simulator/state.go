package simulator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"
)

// What a request can get wrong.
var (
	ErrUnknown = errors.New("not known here")
	ErrInvalid = errors.New("not acceptable")
)

// state is what the state file keeps: all but sessions, codes and faults. Lists
// are oldest first; their elements are values, so that a copied list is a
// snapshot.
type state struct {
	Given        Product      `json:"given"` // Options.Product at the last start
	Product      Product      `json:"product"`
	Sequence     int          `json:"sequence"`
	Tenants      []Tenant     `json:"tenants"`
	Users        []User       `json:"users"`
	Deliveries   []Delivery   `json:"deliveries"`
	Probes       []Probe      `json:"probes"`
	Orders       []Order      `json:"orders"`
	Invoices     []Invoice    `json:"invoices"`
	SchemaScript string       `json:"schemaScript"`
	Keys         []signingKey `json:"signingKeys"` // the last one signs
}

// number returns the next short identifier of a kind; p.mu is held.
func (s *state) number(kind string) string {
	s.Sequence++
	return fmt.Sprintf("%s_%d", kind, s.Sequence)
}

// keyed is an element of a list with what identifies it.
type keyed interface{ key() (kind, id string) }

// find returns the element with that identifier, or ErrUnknown. The pointer is
// good until the list grows; p.mu is held.
func find[T keyed](list []T, id string) (*T, error) {
	for i := range list {
		if _, key := list[i].key(); key == id {
			return &list[i], nil
		}
	}
	var none T
	kind, _ := none.key()
	return nil, fmt.Errorf("%s %q: %w", kind, id, ErrUnknown)
}

// lookup returns a copy of the element with that identifier, or ErrUnknown.
func lookup[T keyed](p *Platform, list *[]T, id string) (out T, err error) {
	defer p.lock()()
	found, err := find(*list, id)
	if err == nil {
		out = *found
	}
	return out, err
}

// copied returns a copy of a list, never nil: JSON has [] for it.
func copied[T any](list []T) []T { return append([]T{}, list...) }

// all is copied under the lock.
func all[T any](p *Platform, list *[]T) []T {
	defer p.lock()()
	return copied(*list)
}

// keepLast appends to a list that keeps its last n elements.
func keepLast[T any](list []T, n int, element T) []T {
	list = append(list, element)
	return slices.Delete(list, 0, max(0, len(list)-n))
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
	p.state.Product.merge(p.state.Given, p.options.Product)
	p.state.Given = p.options.Product
	for i := range p.state.Deliveries {
		p.state.Deliveries[i].restore()
	}
	return p.save() // an unwritable file is found now, not after an hour of work
}

// keepState writes the state file soon after a change, many changes at a time.
func (p *Platform) keepState(ctx context.Context) {
	const settle = 250 * time.Millisecond
	for saved := -1; ; {
		if now := p.currentRevision(); now != saved {
			if err := p.save(); err != nil {
				p.options.Logger.Error("simulator state not saved", "error", err)
			}
			saved = now
		}
		if sleep(ctx, settle) != nil {
			return
		}
	}
}

// save writes a new file beside the state file and renames it: no reader meets
// half of one. It is called by one goroutine at a time.
func (p *Platform) save() error {
	path := p.options.StateFile
	if path == "" {
		return nil
	}
	unlock := p.lock()
	text, err := json.MarshalIndent(p.state, "", "\t")
	unlock()
	if err == nil {
		err = os.WriteFile(path+".new", text, 0o600)
	}
	if err == nil {
		err = os.Rename(path+".new", path)
	}
	if err != nil {
		return fmt.Errorf("state file: %w", err)
	}
	return nil
}
