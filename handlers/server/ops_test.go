package server_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// dashboard is what the tests read of ops/dashboard.json.
type dashboard struct {
	Panels []struct {
		Title   string
		Targets []struct{ Expr string }
	}
}

func readOps(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("ops", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func readDashboard(t *testing.T) (d dashboard) {
	t.Helper()
	if err := json.Unmarshal([]byte(readOps(t, "dashboard.json")), &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// promtool runs one of Prometheus' own checks, in ops/.
func promtool(t *testing.T, stdin string, args ...string) {
	t.Helper()
	command := exec.Command("promtool", args...)
	command.Dir, command.Stdin = "ops", strings.NewReader(stdin)
	output, err := command.CombinedOutput()
	switch {
	case errors.Is(err, exec.ErrNotFound) && os.Getenv("CI") == "":
		t.Skip("no promtool is installed: apt install prometheus")
	case err != nil:
		t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, output)
	}
}

// Each alert fires for what it is about, and none where all is well.
func TestOps_AlertsFire(t *testing.T) {
	t.Parallel()
	promtool(t, "", "check", "rules", "alerts.yml")
	promtool(t, "", "test", "rules", "alerts_test.yml")
}

func TestOps_EveryAlertSaysWhatToDoAndIsTested(t *testing.T) {
	t.Parallel()
	tests := readOps(t, "alerts_test.yml")
	_, rules, _ := strings.Cut(readOps(t, "alerts.yml"), "- alert: ")
	alerts := strings.Split(rules, "- alert: ")
	for _, alert := range alerts {
		name, _, _ := strings.Cut(alert, "\n")
		for _, part := range []string{"expr: ", "severity: ", "summary: ", "action: "} {
			if !strings.Contains(alert, part) {
				t.Errorf("%s has no %s", name, part)
			}
		}
		if !strings.Contains(tests, `alertname="`+name+`"`) {
			t.Errorf("alerts_test.yml does not have %s fire", name)
		}
	}
	if len(alerts) < 10 {
		t.Errorf("only %d alerts were looked at", len(alerts))
	}
}

// Every panel's expression can be read by Prometheus.
func TestOps_TheDashboardCanBeRead(t *testing.T) {
	t.Parallel()
	rules := "groups:\n- name: dashboard\n  rules:\n"
	for i, panel := range readDashboard(t).Panels {
		for j, target := range panel.Targets {
			expr := strings.NewReplacer("$__rate_interval", "5m", "$job", "app").Replace(target.Expr)
			rules += fmt.Sprintf("  - {record: 'panel:%d:%d', expr: %q}\n", i, j, expr)
		}
	}
	file := filepath.Join(t.TempDir(), "rules.yml")
	if err := os.WriteFile(file, []byte(rules), 0o600); err != nil {
		t.Fatal(err)
	}
	promtool(t, "", "check", "rules", file)
}

var (
	measuredName = regexp.MustCompile(`\b(app|go|process)_[a-z_]+\b`)
	ofHistogram  = regexp.MustCompile(`_(bucket|sum|count)$`)
)

// namesIn are the metrics that a text names.
func namesIn(text string) map[string]bool {
	found := map[string]bool{}
	for _, name := range measuredName.FindAllString(text, -1) {
		found[ofHistogram.ReplaceAllString(name, "")] = true
	}
	return found
}

// aboutNames sees that what the alerts, the dashboard and README.md name is there,
// and that the last two have all that is the server's own.
func aboutNames(t *testing.T, seen series) {
	t.Helper()
	var there, shown strings.Builder
	for name := range seen {
		there.WriteString(name[:strings.IndexAny(name+"{", "{")] + "\n")
	}
	for _, panel := range readDashboard(t).Panels {
		for _, target := range panel.Targets {
			shown.WriteString(target.Expr + "\n")
		}
	}
	exist, onDashboard := namesIn(there.String()), namesIn(shown.String())
	for name := range namesIn(shown.String() + readOps(t, "alerts.yml") + readOps(t, "alerts_test.yml") + readOps(t, "README.md")) {
		if !exist[name] {
			t.Errorf("%s is no metric", name)
		}
	}
	for name := range exist {
		if strings.HasPrefix(name, "app_") && (!onDashboard[name] || !strings.Contains(readOps(t, "README.md"), "`"+name+"`")) {
			t.Errorf("%s is not on the dashboard, or not in README.md", name)
		}
	}
}
