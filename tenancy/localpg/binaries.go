package localpg

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
)

// installation is a PostgreSQL of this machine and the user it runs as.
type installation struct {
	bin     string // the directory of initdb and postgres
	version string // such as 15.14
	major   int
	account account
}

// finder knows where to look for PostgreSQL's programs.
type finder struct {
	chosen     string   // when set, the only place to look
	path       []string // directories, the first that fits
	places     []string // patterns of directories, the highest version that fits
	repository string   // where to fetch them when this machine has none
	cache      string   // where to keep what was fetched; "" for the usual place
}

func systemFinder() finder {
	return finder{
		chosen: os.Getenv("POSTGRES_BIN"),
		path:   filepath.SplitList(os.Getenv("PATH")),
		places: []string{
			"/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/usr/libexec/postgresql*",
			"/opt/homebrew/opt/postgresql*/bin", "/usr/local/opt/postgresql*/bin", "/home/linuxbrew/.linuxbrew/opt/postgresql*/bin",
			"/Applications/Postgres.app/Contents/Versions/*/bin",
		},
		repository: "https://repo1.maven.org/maven2",
	}
}

const advice = "install it (`apt install postgresql`, `brew install postgresql@16`) or let POSTGRES_BIN name the directory of its programs initdb and postgres"

// find returns the installation to use. Programs that had to be fetched are kept for the next time.
func (f finder) find(ctx context.Context, a account, log *slog.Logger) (installation, error) {
	if f.chosen != "" {
		if !complete(f.chosen) {
			return installation{}, fmt.Errorf("POSTGRES_BIN: no initdb and postgres in %s", f.chosen)
		}
		return inspect(ctx, a, f.chosen)
	}
	for _, dir := range f.path {
		if filepath.IsAbs(dir) && complete(dir) {
			return inspect(ctx, a, dir)
		}
	}
	if dir := f.newest(); dir != "" {
		return inspect(ctx, a, dir)
	}
	dir, err := f.fetch(ctx, a, log)
	if err != nil {
		return installation{}, fmt.Errorf("no PostgreSQL found on this machine, and none could be fetched (%w): %s", err, advice)
	}
	return inspect(ctx, a, dir)
}

func complete(dir string) bool {
	for _, program := range []string{"initdb", "postgres"} {
		info, err := os.Stat(filepath.Join(dir, program))
		if err != nil || info.IsDir() || info.Mode()&0o111 == 0 {
			return false
		}
	}
	return true
}

// newest is the directory with the highest version in its path.
func (f finder) newest() string {
	var found []string
	for _, pattern := range f.places {
		dirs, _ := filepath.Glob(pattern)
		found = append(found, slices.DeleteFunc(dirs, func(dir string) bool { return !complete(dir) })...)
	}
	if len(found) == 0 {
		return ""
	}
	return slices.MaxFunc(found, func(a, b string) int { return cmp.Compare(versionInPath(a), versionInPath(b)) })
}

var pathVersion = regexp.MustCompile(`\d+(\.\d+)?`)

func versionInPath(dir string) float64 {
	version, _ := strconv.ParseFloat(pathVersion.FindString(dir), 64)
	return version
}

var reportedVersion = regexp.MustCompile(`\(PostgreSQL\) ((\d+)\S*)`)

// inspect asks postgres for its version, as the user it will run as.
func inspect(ctx context.Context, a account, bin string) (installation, error) {
	bin, err := filepath.Abs(bin)
	if err != nil {
		return installation{}, err
	}
	out, err := a.command(ctx, filepath.Join(bin, "postgres"), "--version").CombinedOutput()
	if err != nil {
		return installation{}, fmt.Errorf("ask %s for its version: %w\n%s", bin, err, out)
	}
	match := reportedVersion.FindSubmatch(out)
	if match == nil {
		return installation{}, fmt.Errorf("%s reports no version: %q", bin, out)
	}
	major, err := strconv.Atoi(string(match[2]))
	if err == nil && major < 13 {
		err = fmt.Errorf("PostgreSQL %s in %s is too old, 13 is the oldest that will do: %s", match[1], bin, advice)
	}
	return installation{bin: bin, version: string(match[1]), major: major, account: a}, err
}
