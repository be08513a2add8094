package localpg

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// find looks for programs as the user that postgres runs as.
func (f finder) testFind(t *testing.T) (installation, error) {
	t.Helper()
	a, err := newAccount()
	if err != nil {
		t.Fatal(err)
	}
	return f.find(t.Context(), a, slog.New(slog.DiscardHandler))
}

// programs makes a directory with an initdb and a postgres that runs a script.
func programs(t *testing.T, dir, script string) string {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"initdb", "postgres"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func says(version string) string { return "echo 'postgres (PostgreSQL) " + version + "'" }

func TestWherePostgresIsFound(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	chosen := programs(t, filepath.Join(dir, "chosen"), says("14.1"))
	inPath := programs(t, filepath.Join(dir, "inPath"), says("16.3 (Debian 16.3-1.pgdg120+1)"))
	nine := programs(t, filepath.Join(dir, "lib/9.6/bin"), says("9.6.24"))
	fifteen := programs(t, filepath.Join(dir, "lib/15/bin"), says("17beta1"))
	places := []string{filepath.Join(dir, "lib/*/bin")}
	tests := map[string]struct {
		finder  finder
		bin     string
		version string
		major   int
	}{
		"setting":         {finder{chosen: chosen, path: []string{inPath}, places: places}, chosen, "14.1", 14},
		"PATH":            {finder{path: []string{dir, "relative", inPath}, places: places}, inPath, "16.3", 16},
		"highest version": {finder{path: []string{dir}, places: places}, fifteen, "17beta1", 17},
	}
	for name, test := range tests {
		got, err := test.finder.testFind(t)
		if err != nil || got.bin != test.bin || got.version != test.version || got.major != test.major {
			t.Errorf("%s: got %+v %v", name, got, err)
		}
	}
	if _, err := (finder{chosen: nine}).testFind(t); err == nil || !strings.Contains(err.Error(), "too old") {
		t.Errorf("9.6: got %v", err)
	}
}

func TestProgramsThatDoNotWork(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	tests := map[string]struct{ bin, want string }{
		"not there":      {filepath.Join(dir, "nowhere"), "POSTGRES_BIN: no initdb and postgres in " + dir},
		"broken":         {programs(t, filepath.Join(dir, "broken"), "echo no such library; exit 1"), "no such library"},
		"something else": {programs(t, filepath.Join(dir, "else"), "echo hello"), "hello"},
	}
	for name, test := range tests {
		if _, err := (finder{chosen: test.bin}).testFind(t); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestNoPostgresAnywhere(t *testing.T) {
	t.Parallel()
	f := finder{repository: "http://127.0.0.1:1", cache: dataDir(t)}
	_, err := start(context.Background(), Options{}, f)
	if err == nil {
		t.Fatal("it started")
	}
	for _, want := range []string{"apt install postgresql", "brew install postgresql@16", "POSTGRES_BIN", "127.0.0.1:1"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not say %q", err, want)
		}
	}
}
