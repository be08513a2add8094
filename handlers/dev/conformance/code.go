package conformance

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
)

func checkCodeOneTime(ctx context.Context, w *walk) (string, error) {
	u, first, second := w.anyUser(), w.stranger(), w.stranger()
	a, err := w.arrive(ctx, first, u)
	if err != nil {
		return "", err
	}
	if err := w.settled(ctx, first, u, a.page); err != nil {
		return "", err
	}
	w.visits(a.code)
	page, _, err := second.follow(ctx, a.address)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("the second browser: %d, no session", page.status), w.nobody(ctx, second)
}

func checkCodeUnknown(ctx context.Context, w *walk) (string, error) {
	return w.refuses(ctx, w.callbackPath+"?code=sso_"+rand.Text())
}

func checkCodeMissing(ctx context.Context, w *walk) (string, error) {
	seen, err := w.refuses(ctx, w.callbackPath)
	if err != nil {
		return "", fmt.Errorf("without code: %w", err)
	}
	if _, err := w.refuses(ctx, w.callbackPath+"?code="); err != nil {
		return "", fmt.Errorf("with an empty code: %w", err)
	}
	return seen, nil
}

// refuses visits a callback address that must make no session.
func (w *walk) refuses(ctx context.Context, path string) (string, error) {
	b := w.stranger()
	page, _, err := b.follow(ctx, w.at(path))
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%d, no session", page.status), w.nobody(ctx, b)
}

// nobody wants a browser to have no session.
func (w *walk) nobody(ctx context.Context, b *browser) error {
	in, err := w.anybody(ctx, b)
	if in {
		return errors.New("there is a session")
	}
	return err
}
