package doctor

import (
	"context"
	"slices"
	"strings"
)

// settings has a line for each setting that is wrong, a placeholder or weak.
func (d *Doctor) settings(context.Context) (lines []Line) {
	for _, problem := range d.problems() {
		lines = append(lines, failure(problem, ".env.example describes every setting")...)
	}
	for _, w := range d.Config.Warnings() {
		lines = append(lines, warning(w, "change it before customers come; .env.example describes every setting")...)
	}
	if lines == nil {
		return ok("everything required is set")
	}
	return lines
}

func (d *Doctor) problems() []string {
	if d.Problems == nil {
		return nil
	}
	return strings.Split(d.Problems.Error(), "\n")
}

// Usable tells whether a setting is not among the problems.
func (d *Doctor) Usable(name string) bool {
	return !slices.ContainsFunc(d.problems(), func(p string) bool {
		return strings.HasPrefix(p, name+" ") || strings.HasPrefix(p, name+"_FILE ")
	})
}
