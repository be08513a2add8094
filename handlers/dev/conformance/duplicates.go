package conformance

import (
	"context"
	"fmt"
)

// checkDuplicate delivers the same bytes again, after the tenant was used: what
// is there must still be there, once.
func checkDuplicate(ctx context.Context, w *walk) (string, error) {
	m, err := w.join(ctx)
	if err != nil {
		return "", err
	}
	before, err := w.writeAndRead(ctx, m)
	if err != nil {
		return "", err
	}
	a, err := w.accept(ctx, m.event)
	if err != nil {
		return "", fmt.Errorf("the second delivery: %w", err)
	}
	if err := w.stays(ctx, m); err != nil {
		return "", err
	}
	if before == "" {
		return a.String() + ", the session stays", nil
	}
	after, err := w.read(ctx, m)
	if err == nil && after != before {
		err = fmt.Errorf("%s shows something else than before", w.readPath)
	}
	return a.String() + ", session and data stay", err
}

// writeAndRead is what the read path shows of a text of the member's; empty
// where that cannot be looked at.
func (w *walk) writeAndRead(ctx context.Context, m *member) (string, error) {
	if !w.passed["tenants-data"] {
		return "", nil
	}
	if _, err := w.write(ctx, m); err != nil {
		return "", err
	}
	return w.read(ctx, m)
}

func checkDuplicatesAtOnce(ctx context.Context, w *walk) (string, error) {
	const copies = 10
	m := &member{user: w.newTenant(), browser: w.stranger()}
	m.event = w.event(created, m.user.Tenant)
	err := together(copies, func(int) error { _, err := w.accept(ctx, m.event); return err })
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%d copies, all accepted", copies), w.signIn(ctx, m)
}
