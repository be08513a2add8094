package config

import (
	"fmt"
	"slices"
)

// misspelt warns of settings that nobody reads and whose name is one letter from
// one that is read. They are looked for by name, for that finds those of .env and
// of the environment alike.
func (r *Reader) misspelt() (warnings []string) {
	known := slices.Concat(r.names, r.files)
	for _, name := range known {
		for _, other := range oneLetterFrom(name) {
			if v, ok := r.env(other); ok && v != "" && !slices.Contains(known, other) {
				warnings = append(warnings, fmt.Sprintf("%s is set and nobody reads it: is %s meant?", other, name))
			}
		}
	}
	slices.Sort(warnings)
	return slices.Compact(warnings)
}

const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789"

// oneLetterFrom lists the names with one letter missing, too many or wrong, or
// two of them swapped.
func oneLetterFrom(name string) (names []string) {
	for i := range len(name) + 1 {
		before, after := name[:i], name[i:]
		for _, letter := range letters {
			names = append(names, before+string(letter)+after)
			if after != "" {
				names = append(names, before+string(letter)+after[1:])
			}
		}
		if after != "" {
			names = append(names, before+after[1:])
		}
		if len(after) > 1 {
			names = append(names, before+after[1:2]+after[:1]+after[2:])
		}
	}
	return names
}
