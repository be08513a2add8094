package simulator

import (
	"fmt"
	"net/http"
	"strings"
)

// ScriptCheck compares the "Schema script" field (contract, tenant schema rule
// 4) with the product's own script.
type ScriptCheck struct {
	Known bool   `json:"known"`           // there is something to compare with
	Same  bool   `json:"same"`            // line for line, but for line endings and blank ends
	Line  int    `json:"line,omitempty"`  // the first one that differs, from 1
	Field string `json:"field,omitempty"` // that line in the field
	Own   string `json:"own,omitempty"`   // and in the product's script
	Error string `json:"error,omitempty"` // why the product's own could not be had
}

// SetSchemaScript fills the field.
func (p *Platform) SetSchemaScript(script string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.state.SchemaScript = script
	p.touch()
}

// CheckSchemaScript compares the field with own or, when that is empty, with
// what Options.SchemaScript returns now.
func (p *Platform) CheckSchemaScript(own string) ScriptCheck {
	if own == "" && p.options.SchemaScript != nil {
		var err error
		if own, err = p.options.SchemaScript(); err != nil {
			return ScriptCheck{Error: fmt.Sprintf("the product's own script: %v", err)}
		}
	}
	if own == "" {
		return ScriptCheck{}
	}
	p.mu.Lock()
	field := p.state.SchemaScript
	p.mu.Unlock()
	return compareScripts(lines(field), lines(own))
}

func compareScripts(field, own []string) ScriptCheck {
	at := func(lines []string, i int) string {
		if i < len(lines) {
			return lines[i]
		}
		return ""
	}
	for i := range max(len(field), len(own)) { // no text ends in a blank line
		if at(field, i) != at(own, i) {
			return ScriptCheck{Known: true, Line: i + 1, Field: at(field, i), Own: at(own, i)}
		}
	}
	return ScriptCheck{Known: true, Same: true}
}

// lines forgets what a form's text area does to a text.
func lines(text string) []string {
	text = strings.TrimRight(strings.ReplaceAll(text, "\r\n", "\n"), " \t\n")
	if text == "" {
		return nil
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " \t")
	}
	return lines
}

// apiScript fills the "Schema script" field and compares it with own, if given,
// or the product's.
func (p *Platform) apiScript(_ *http.Request, in struct {
	Script string `json:"script"`
	Own    string `json:"own"`
}) (ScriptCheck, error) {
	p.SetSchemaScript(in.Script)
	return p.CheckSchemaScript(in.Own), nil
}
