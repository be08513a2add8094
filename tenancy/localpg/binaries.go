package localpg

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
)

// programs are those of one PostgreSQL.
type programs struct{ bin, version, major string }

// finder says where to look for PostgreSQL's programs.
type finder struct {
	dirs       []string // the first that has them
	repository string   // where to fetch them else; "" for never
	cache      string   // where to keep what was fetched; "" for the usual place
}

func systemFinder() finder {
	if dir := os.Getenv("POSTGRES_BIN"); dir != "" {
		return finder{dirs: []string{dir}}
	}
	installed := newest("/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/usr/libexec/postgresql*",
		"/opt/homebrew/opt/postgresql*/bin", "/usr/local/opt/postgresql*/bin", "/home/linuxbrew/.linuxbrew/opt/postgresql*/bin",
		"/Applications/Postgres.app/Contents/Versions/*/bin")
	dirs := append(filepath.SplitList(os.Getenv("PATH")), installed...)
	return finder{dirs: dirs, repository: "https://repo1.maven.org/maven2"}
}

// newest are the directories of these patterns, the one with the highest version
// first.
func newest(patterns ...string) (dirs []string) {
	for _, pattern := range patterns {
		found, _ := filepath.Glob(pattern)
		dirs = append(dirs, found...)
	}
	version := func(dir string) int {
		v, _ := strconv.Atoi(regexp.MustCompile(`\d+`).FindString(dir))
		return v
	}
	slices.SortFunc(dirs, func(a, b string) int { return cmp.Compare(version(b), version(a)) })
	return dirs
}

// findPrograms keeps what had to be fetched for the next time.
func (s *Server) findPrograms(ctx context.Context) error {
	for _, dir := range s.finder.dirs {
		if complete(dir) {
			return s.inspect(ctx, dir)
		}
	}
	err := fmt.Errorf("no initdb, postgres and pg_ctl in %q", s.finder.dirs)
	if s.finder.repository != "" {
		var bin string
		if bin, err = s.fetch(ctx); err == nil {
			return s.inspect(ctx, bin)
		}
	}
	return fmt.Errorf("no PostgreSQL: %w; install it (`apt install postgresql`, `brew install postgresql@16`) "+
		"or let POSTGRES_BIN name the directory of its programs", err)
}

func complete(bin string) bool {
	for _, program := range []string{"initdb", "postgres", "pg_ctl"} {
		if _, err := exec.LookPath(filepath.Join(bin, program)); err != nil {
			return false
		}
	}
	return filepath.IsAbs(bin)
}

// inspect asks postgres for its version, as the user it will run as.
func (s *Server) inspect(ctx context.Context, bin string) error {
	out, err := s.account.command(ctx, filepath.Join(bin, "postgres"), "--version").CombinedOutput()
	match := regexp.MustCompile(`\(PostgreSQL\) ((\d+)\S*)`).FindStringSubmatch(string(out))
	if err != nil || match == nil {
		return fmt.Errorf("postgres in %s does not say its version: %w\n%s", bin, cmp.Or(err, errors.ErrUnsupported), out)
	}
	s.programs = programs{bin, match[1], match[2]}
	return nil
}
