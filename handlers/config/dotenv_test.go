package config_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"example.com/subproduct/handlers/config"
)

// A typo in .env is told by its line, and nothing of the file is shown.
func TestDotEnv_ATypoShowsNoSecret(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		content string
		line    int
	}{
		"a space in a name":   {"APP_SLUG=app\nWEBHOOK SECRET hunter2\nPLATFORM_API_KEY=hunter2\n", 2},
		"a name with a dash":  {"WEBHOOK-SECRET=hunter2\nPLATFORM_API_KEY=hunter2", 1},
		"no equals sign":      {"A=b\n\n# a comment\nhunter2\nPLATFORM_API_KEY=hunter2\n", 4},
		"a quotation mark":    {"A=b\r\nC=d\r\nWEBHOOK_SECRET=\"hunter2\r\nPLATFORM_API_KEY=hunter2\r\n", 3},
		"quoted over lines":   {"KEY='a\nb\nc'\nD=e\nWEBHOOK_SECRET hunter2\n", 5},
		"behind a quotation":  {"A='x\nWEBHOOK_SECRET=hunter2\nB='y' hunter2\n", 1},
		"the end of the file": {"A=b\nWEBHOOK_SECRET='hunter2", 2},
	} {
		file := filepath.Join(t.TempDir(), ".env")
		if err := os.WriteFile(file, []byte(c.content), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := config.WithDotEnv(lookup(nil), file)
		if err == nil || strings.Contains(err.Error(), "hunter2") || !strings.Contains(err.Error(), ".env:"+strconv.Itoa(c.line)+":") {
			t.Errorf("%s: %v; want line %d and no secret", name, err, c.line)
		}
	}
}

// What is wrong with the other lines can be told in the same breath.
func TestDotEnv_ATypoHidesNoOtherLine(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), ".env")
	content := "PORT=1\nWEBHOOK SECRET hunter2\nLOG_LEVEL=loud\nPLATFORM_API_KEY='hunter2\nSSO_STATE=perhaps\n"
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	env, err := config.WithDotEnv(lookup(nil), file)
	if err == nil || !strings.Contains(err.Error(), ".env:2:") || !strings.Contains(err.Error(), ".env:4:") || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("%v; want lines 2 and 4, and no secret", err)
	}
	for name, want := range map[string]string{"PORT": "1", "LOG_LEVEL": "loud", "SSO_STATE": "perhaps"} {
		if got, _ := env(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

// A file that is something else is not named line by line.
func TestDotEnv_OfManyBrokenLinesTenAreNamed(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), ".env")
	if err := os.WriteFile(file, []byte(strings.Repeat("no line\n", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := config.WithDotEnv(lookup(nil), file); err == nil || strings.Count(err.Error(), ".env:") != 10 {
		t.Errorf("%v", err)
	}
}

// A typo may also put one setting into another, where a wrong value is shown.
func TestConfig_AMisplacedSecretIsNotShown(t *testing.T) {
	t.Parallel()
	for name, wrong := range map[string]map[string]string{
		"a quotation mark that is closed later": {"PUBLIC_URL": "app.example\nWEBHOOK_SECRET=hunter2\nLOG_LEVEL="},
		"the same, of a number":                 {"DATABASE_MAX_CONNS": "8\nWEBHOOK_SECRET=hunter2"},
		"a secret as the name of its file":      {"WEBHOOK_SECRET": "", "WEBHOOK_SECRET_FILE": "hunter2"},
		"a password in an address":              {"PLATFORM_URL": "https://us:hunter2@p.example"},
		"a password that breaks an address":     {"PLATFORM_URL": "https://us:hunter2%zz@p.example"},
	} {
		env := complete()
		for k, v := range wrong {
			env[k] = v
		}
		if _, err := load(env); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
