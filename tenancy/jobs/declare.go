package jobs

import (
	"errors"
	"fmt"
	"regexp"
	"time"
)

// kinds are the names that can be typed on a command line and stored.
var kinds = regexp.MustCompile(`^[a-z0-9][a-z0-9_.-]{0,99}$`)

// declare sorts what the product declares, and refuses what cannot be.
func (e *Engine) declare(declared []Declared) error {
	var all []error
	for _, d := range declared {
		switch _, taken := e.handlers[d.kind]; {
		case d.run == nil:
			e.schedules = append(e.schedules, d)
		case taken:
			all = append(all, fmt.Errorf("job %q has two handlers: a kind has one", d.kind))
		case !kinds.MatchString(d.kind):
			all = append(all, fmt.Errorf("job %q: a kind is 1 to 100 of a-z, 0-9, _, . and -, like send_invoice", d.kind))
		default:
			e.handlers[d.kind] = d
		}
	}
	seen := map[string]bool{}
	for _, s := range e.schedules {
		all = append(all, e.checkSchedule(s, seen[s.kind]))
		seen[s.kind] = true
	}
	return errors.Join(all...)
}

func (e *Engine) checkSchedule(s Declared, second bool) error {
	handler, ok := e.handlers[s.kind]
	switch {
	case !ok:
		return fmt.Errorf("job %q has a schedule and no handler: declare that too", s.kind)
	case second:
		return fmt.Errorf("job %q has two schedules: give the second a kind of its own", s.kind)
	case handler.shared && !s.shared:
		return fmt.Errorf("job %q is shared: Every is for it, not EveryTenant", s.kind)
	case s.shared && !handler.shared:
		return fmt.Errorf("job %q is a tenant's: EveryTenant is for it, not Every", s.kind)
	case s.every < tick || s.every%time.Second != 0:
		return fmt.Errorf("job %q every %v: an interval is whole seconds, at least %v", s.kind, s.every, tick)
	}
	return nil
}
