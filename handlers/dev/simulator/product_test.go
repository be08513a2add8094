package simulator

import (
	"errors"
	"strings"
	"testing"
)

// check fills the field and compares it with own.
func (d *harness) check(t *testing.T, script, own string) ScriptCheck {
	t.Helper()
	got, err := d.saveScript(nil, scriptInput{script, own})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestSimulator_SchemaScriptIsComparedWithTheProductsOwn(t *testing.T) {
	t.Parallel()
	own := "CREATE TABLE notes (\n\tid bigint\n);\n"
	var broken error
	d := newHarness(t, func(o *Options) { o.SchemaScript = func() (string, error) { return own, broken } })

	for name, c := range map[string]struct {
		script string
		want   ScriptCheck
	}{
		"the same":           {own, ScriptCheck{Known: true, Same: true}},
		"as a form sends it": {strings.ReplaceAll(own, "\n", "\r\n") + "\r\n ", ScriptCheck{Known: true, Same: true}},
		"another line":       {"CREATE TABLE notes (\n\tid int\n);", ScriptCheck{Known: true, Line: 2}},
		"too short":          {"CREATE TABLE notes (", ScriptCheck{Known: true, Line: 2}},
		"too long":           {own + "DROP TABLE x;", ScriptCheck{Known: true, Line: 4}},
		"empty":              {"", ScriptCheck{Known: true, Line: 1}},
	} {
		if got := d.check(t, c.script, ""); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
	if got := d.check(t, "", "else"); got.Same || got.Line != 1 {
		t.Errorf("against a text: %+v", got)
	}
	broken = errors.New("no database")
	if got := d.check(t, "", ""); got.Known || !strings.Contains(got.Error, "no database") {
		t.Errorf("when the product cannot say: %+v", got)
	}
}

func TestSimulator_WithoutTheProductsOwnATextIsCompared(t *testing.T) {
	t.Parallel()
	d := newHarness(t, nil)
	if got := d.check(t, "SELECT 1;", ""); got != (ScriptCheck{}) {
		t.Errorf("nothing to compare with: %+v", got)
	}
	if answer := d.api(t, "POST", "/_sim/schema-script", `{"script":"SELECT 1;","own":"SELECT 1;"}`, 200); answer["same"] != true {
		t.Errorf("answer = %v, want same", answer)
	}
}
