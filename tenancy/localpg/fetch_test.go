package localpg

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// repository serves this machine's PostgreSQL as the public repository serves it: an archive in an archive. checksum is
// what it says for it; "" for the true one.
func repository(t *testing.T, checksum string) (url string, downloads *atomic.Int64) {
	t.Helper()
	jar := jarOf(t, xzOf(tarOf(t)))
	if checksum == "" {
		checksum = fmt.Sprintf("%x", sha256.Sum256(jar))
	}
	downloads = new(atomic.Int64)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasSuffix(r.URL.Path, ".jar"):
			downloads.Add(1)
			_, _ = w.Write(jar)
		case strings.HasSuffix(r.URL.Path, ".jar.sha256"):
			_, _ = w.Write([]byte(checksum))
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL, downloads
}

// tarOf packs programs that hand over to those of this machine, which may not work from another directory.
func tarOf(t *testing.T) []byte {
	t.Helper()
	here, err := systemFinder().testFind(t)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, name := range []string{"initdb", "postgres"} {
		script := "#!/bin/sh\nexec '" + filepath.Join(here.bin, name) + "' \"$@\"\n"
		if err := w.WriteHeader(&tar.Header{Name: "bin/" + name, Mode: 0o700, Size: int64(len(script))}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(script)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func jarOf(t *testing.T, txz []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.Create("postgres-any.txz")
	if err != nil {
		t.Fatal(err)
	}
	_, writeErr := w.Write(txz)
	if err := errors.Join(writeErr, z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestFetched(t *testing.T) {
	t.Parallel()
	url, downloads := repository(t, "")
	f := finder{repository: url, cache: dataDir(t)}
	for range 2 {
		s, err := start(t.Context(), Options{Fast: true}, f)
		if err != nil {
			t.Fatal(err)
		}
		if got := ask(t, s.URL("postgres"), "SELECT 1"); got != "1" || !strings.HasPrefix(s.postgres.bin, f.cache) {
			t.Errorf("got %s from %s", got, s.postgres.bin)
		}
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	}
	if got := downloads.Load(); got != 1 {
		t.Errorf("got %d downloads", got)
	}
	if left, err := os.ReadDir(f.cache); err != nil || len(left) != 1 {
		t.Errorf("in the cache there are %v %v", left, err)
	}
}

func TestFetchedAndFalse(t *testing.T) {
	t.Parallel()
	url, _ := repository(t, "0000")
	f := finder{repository: url, cache: dataDir(t)}
	if _, err := f.testFind(t); err == nil || !strings.Contains(err.Error(), "checksum") {
		t.Errorf("got %v", err)
	}
	if left, err := os.ReadDir(f.cache); err != nil || len(left) != 0 {
		t.Errorf("in the cache there are %v %v", left, err)
	}
}

func TestFetchEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	answer := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		cancel()
		<-answer
	}))
	defer server.Close()
	defer close(answer)
	f := finder{repository: server.URL, cache: t.TempDir()}
	if _, err := start(ctx, Options{}, f); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
