package simulator

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// ScriptCheck compares the "Schema script" field (contract, tenant schema rule
// 4) with the product's own script.
type ScriptCheck struct {
	Known bool   `json:"known"`           // there is something to compare with
	Same  bool   `json:"same"`            // line for line, but for line endings and blank ends
	Line  int    `json:"line,omitempty"`  // the first one that differs, from 1
	Error string `json:"error,omitempty"` // why the product's own could not be had
}

// scriptInput fills the field; own is compared with it.
type scriptInput struct {
	Script string `json:"script"`
	Own    string `json:"own"`
}

// saveScript is POST /_sim/schema-script.
func (p *Platform) saveScript(_ *http.Request, in scriptInput) (ScriptCheck, error) {
	unlock := p.change()
	p.state.SchemaScript = in.Script
	unlock()
	return p.checkScript(in.Own), nil
}

// checkScript compares the field with own or, when that is empty, with what
// Options.SchemaScript returns now.
func (p *Platform) checkScript(own string) (c ScriptCheck) {
	if own == "" && p.options.SchemaScript != nil {
		var err error
		if own, err = p.options.SchemaScript(); err != nil {
			return ScriptCheck{Error: fmt.Sprintf("the product's own script: %v", err)}
		}
	}
	if own == "" {
		return c
	}
	field, wanted := lines(p.snapshot().Script), lines(own)
	if slices.Equal(field, wanted) {
		return ScriptCheck{Known: true, Same: true}
	}
	for c.Line < min(len(field), len(wanted)) && field[c.Line] == wanted[c.Line] {
		c.Line++
	}
	return ScriptCheck{Known: true, Line: c.Line + 1}
}

// lines drops what a form's text area does to a text.
func lines(text string) []string {
	lines := strings.Split(strings.TrimRight(text, " \t\r\n"), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " \t\r")
	}
	return lines
}
