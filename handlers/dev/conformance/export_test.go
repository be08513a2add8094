package conformance

import (
	"context"
	"io"
	"net"
)

// RunOn is Run with the platform on a listener that a test has opened already,
// for the target must know its address.
func RunOn(ctx context.Context, args []string, env func(string) (string, bool), l net.Listener, out io.Writer) error {
	s, err := parse(append(args, "--platform-addr", l.Addr().String()), env, out)
	if err != nil {
		return err
	}
	return run(ctx, s, l, out)
}

// RuleTable is the README's table.
func RuleTable() string {
	text := "| rule | section | asks for |\n| --- | --- | --- |\n"
	for _, r := range rules() {
		text += "| `" + r.id + "` | " + r.section + " | " + r.asks + " |\n"
	}
	return text
}

// Needs is, for each rule, those without which it is not judged.
func Needs() map[string]string {
	needs := map[string]string{}
	for _, r := range rules() {
		needs[r.id] = r.needs
	}
	return needs
}
