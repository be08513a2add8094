package conformance

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"sync"
)

// pair is two users of two tenants.
func (w *walk) pair(ctx context.Context) (a, b *member, err error) {
	if a, err = w.member(ctx, "first"); err == nil {
		b, err = w.member(ctx, "second")
	}
	return a, b, err
}

const looks = 10 // at the same time, for a mix-up needs two requests at once

func checkIdentities(ctx context.Context, w *walk) (string, error) {
	a, b, err := w.pair(ctx)
	if err != nil {
		return "", err
	}
	err = together(2*looks, func(i int) error {
		me, other := a, b
		if i%2 == 1 {
			me, other = b, a
		}
		in, page, err := w.signedIn(ctx, me.browser, me.user)
		switch {
		case err != nil:
			return err
		case strings.Contains(string(page.body), other.user.Tenant):
			return errors.New("one tenant's user saw the other's")
		case !in:
			return fmt.Errorf("%s: %d without the user", w.sessionPath, page.status)
		}
		return nil
	})
	return fmt.Sprintf("%d requests, each saw its own user", 2*looks), err
}

// together runs n functions at once and joins their errors, equal ones once.
func together(n int, do func(int) error) error {
	errs := make([]error, n)
	var running sync.WaitGroup
	for i := range n {
		running.Go(func() { errs[i] = do(i) })
	}
	running.Wait()
	return distinct(errs)
}

func distinct(errs []error) error {
	var out []error
	said := map[string]bool{}
	for _, err := range errs {
		if err != nil && !said[err.Error()] {
			said[err.Error()] = true
			out = append(out, err)
		}
	}
	if len(out) > 3 {
		out = out[:3]
	}
	texts := make([]string, len(out))
	for i, err := range out {
		texts[i] = err.Error()
	}
	if len(texts) == 0 {
		return nil
	}
	return errors.New(strings.Join(texts, "; "))
}

// write keeps a text that stands nowhere else in the member's tenant.
func (w *walk) write(ctx context.Context, m *member) (text string, err error) {
	text = "conformance " + rand.Text()
	a, err := m.browser.postJSON(ctx, w.at(w.writePath), strings.ReplaceAll(w.writeBody, "%s", text))
	if err == nil && !a.ok() {
		err = fmt.Errorf("POST %s: %s (are --write-path and --write-body right?)", w.writePath, a)
	}
	return text, err
}

// read is all that the member sees at the read path.
func (w *walk) read(ctx context.Context, m *member) (string, error) {
	a, err := m.browser.get(ctx, w.at(w.readPath))
	if err == nil && !a.ok() {
		err = fmt.Errorf("GET %s: %s", w.readPath, a)
	}
	return string(a.body), err
}

func checkData(ctx context.Context, w *walk) (string, error) {
	if w.writePath == "" {
		return "", skipped{"the product keeps nothing to write and read (--write-path is empty)"}
	}
	a, b, err := w.pair(ctx)
	if err != nil {
		return "", err
	}
	texts := map[*member]string{}
	for _, m := range []*member{a, b} {
		if texts[m], err = w.write(ctx, m); err != nil {
			return "", err
		}
	}
	err = together(2*looks, func(i int) error {
		me, other := a, b
		if i%2 == 1 {
			me, other = b, a
		}
		return w.readsOnly(ctx, me, texts[me], texts[other])
	})
	return fmt.Sprintf("%d reads, each saw its own tenant's text alone", 2*looks), err
}

func (w *walk) readsOnly(ctx context.Context, m *member, own, foreign string) error {
	page, err := w.read(ctx, m)
	switch {
	case err != nil:
		return err
	case strings.Contains(page, foreign):
		return errors.New("a user read what another tenant's user wrote")
	case !strings.Contains(page, own):
		return fmt.Errorf("GET %s does not show what the user wrote (is --read-path right?)", w.readPath)
	}
	return nil
}
