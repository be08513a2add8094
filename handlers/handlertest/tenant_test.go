package handlertest_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"

	"example.com/subproduct/handlers/handlertest"
	"example.com/subproduct/handlers/handlertest/fixture"
)

// failing is a test that keeps what it fails with.
type failing struct {
	testing.TB
	said string
}

func (f *failing) Fatalf(format string, args ...any) {
	f.said = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

// A migration that fails is named where its tenant should have come to be.
func TestSubscribe_SaysWhichMigrationFails(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.Migrating(fstest.MapFS{
		"000001_books.up.sql": {Data: []byte(`CREATE TABLE books (title nonsense)`)},
	}), handlertest.Setup{})
	test, ended := &failing{TB: t}, make(chan struct{})
	go func() { defer close(ended); site.Subscribe(test, "acme") }()
	<-ended
	for _, want := range []string{"subscription of acme", "000001_books.up.sql", `type "nonsense" does not exist`} {
		if !strings.Contains(test.said, want) {
			t.Errorf("no %q in: %s", want, test.said)
		}
	}
}
