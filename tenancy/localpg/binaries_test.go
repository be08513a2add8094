package localpg

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// findWith looks for programs as a server does.
func findWith(t *testing.T, ctx context.Context, f finder) (programs, error) {
	t.Helper()
	s := &Server{finder: f, options: Options{Logger: slog.New(slog.DiscardHandler)}}
	if err := s.chooseAccount(ctx); err != nil {
		t.Fatal(err)
	}
	err := s.findPrograms(ctx)
	return s.programs, err
}

// installed makes a directory with programs that run a script.
func installed(t *testing.T, dir, script string) string {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"initdb", "postgres", "pg_ctl"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestFind(t *testing.T) {
	t.Parallel()
	dir := openDir(t)
	nine := installed(t, filepath.Join(dir, "lib/9.6/bin"), "echo 'postgres (PostgreSQL) 9.6.24'")
	sixteen := installed(t, filepath.Join(dir, "lib/16/bin"), "echo 'postgres (PostgreSQL) 16.3 (Debian 16.3-1.pgdg120+1)'")
	if got := newest(filepath.Join(dir, "lib/*/bin")); len(got) != 2 || got[0] != sixteen {
		t.Errorf("got %q, want the highest version first", got)
	}
	got, err := findWith(t, t.Context(), finder{dirs: []string{dir, "relative", sixteen, nine}})
	if want := (programs{sixteen, "16.3", "16"}); err != nil || got != want {
		t.Errorf("got %+v %v, want %+v", got, err, want)
	}
	for want, f := range map[string]finder{
		"no initdb":           {dirs: []string{filepath.Join(dir, "nowhere")}},
		"POSTGRES_BIN":        {repository: "http://127.0.0.1:1", cache: dir},
		"127.0.0.1:1":         {repository: "http://127.0.0.1:1", cache: dir},
		"no such library":     {dirs: []string{installed(t, filepath.Join(dir, "broken"), "echo no such library; exit 1")}},
		"not say its version": {dirs: []string{installed(t, filepath.Join(dir, "else"), "echo hello")}},
	} {
		if _, err := findWith(t, t.Context(), f); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q in it", err, want)
		}
	}
}

// archived are programs that hand over to those of this machine, as tar -cJf
// packs them.
//
//go:embed testdata/programs.txz
var archived []byte

// repository serves archived as the public repository does, with a true or a
// false checksum.
func repository(t *testing.T, honest bool) (url string, downloads *atomic.Int64) {
	t.Helper()
	var jar bytes.Buffer
	z := zip.NewWriter(&jar)
	w, err := z.Create("postgres-any.txz")
	if err == nil {
		_, err = w.Write(archived)
	}
	if err := errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	checksum := "0000"
	if honest {
		checksum = fmt.Sprintf("%x", sha256.Sum256(jar.Bytes()))
	}
	downloads = new(atomic.Int64)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, ".sha256") {
			_, _ = w.Write([]byte(checksum))
			return
		}
		downloads.Add(1)
		_, _ = w.Write(jar.Bytes())
	}))
	t.Cleanup(server.Close)
	return server.URL, downloads
}

func TestFetch(t *testing.T) {
	t.Parallel()
	url, downloads := repository(t, true)
	f := finder{repository: url, cache: openDir(t)}
	for range 2 {
		s, err := start(t.Context(), Options{Fast: true}, f)
		if err != nil {
			t.Fatal(err)
		}
		if got := query(t, connect(t, s.URL("postgres")), "SELECT 1"); got != "1" || !strings.HasPrefix(s.programs.bin, f.cache) {
			t.Errorf("got %s from %s", got, s.programs.bin)
		}
		stop(t, s)
	}
	if got := downloads.Load(); got != 1 {
		t.Errorf("got %d downloads", got)
	}
	if left, err := os.ReadDir(f.cache); err != nil || len(left) != 1 || processes(f.cache) != nil {
		t.Errorf("left are %v %v and processes %v", left, err, processes(f.cache))
	}
}

func TestFetch_FalseChecksum(t *testing.T) {
	t.Parallel()
	url, _ := repository(t, false)
	f := finder{repository: url, cache: openDir(t)}
	if _, err := findWith(t, t.Context(), f); err == nil || !strings.Contains(err.Error(), "checksum") {
		t.Errorf("got %v", err)
	}
	if left, err := os.ReadDir(f.cache); err != nil || len(left) != 0 {
		t.Errorf("in the cache there are %v %v", left, err)
	}
}

func TestFetch_EndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	answer := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		cancel()
		<-answer
	}))
	defer server.Close()
	defer close(answer)
	if _, err := findWith(t, ctx, finder{repository: server.URL, cache: t.TempDir()}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
