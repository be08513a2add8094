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
	for i := range max(len(field), len(wanted)) {
		if c.Field, c.Own = at(field, i), at(wanted, i); c.Field != c.Own { // no text ends in a blank line
			c.Known, c.Line = true, i+1
			return c
		}
	}
	return ScriptCheck{Known: true, Same: true}
}

// lines drops what a form's text area does to a text.
func lines(text string) []string {
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " \t")
	}
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

func at(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return ""
}
