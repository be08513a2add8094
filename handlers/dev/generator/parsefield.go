package generator

import (
	"fmt"
	"strings"
)

// parseField reads name:type, and behind it :unique and :optional.
func parseField(arg string) (Field, error) {
	if strings.HasPrefix(arg, "-") {
		return Field{}, fmt.Errorf("%s stands before the resource: add --singular person people name:string", arg)
	}
	parts := strings.Split(arg, ":")
	name := parts[0]
	if !fieldName.MatchString(name) || len(name) > maxName {
		return Field{}, fmt.Errorf("%q cannot be a field: write name:type, the name in lower case with underscores, such as due_date:date", arg)
	}
	f, err := parseType(name, append(parts, "")[1])
	if err != nil {
		return f, err
	}
	for _, word := range parts[min(2, len(parts)):] {
		switch {
		case word == "unique" && !f.Unique:
			f.Unique = true
		case word == "optional" && !f.Optional:
			f.Optional = true
		default:
			return f, fmt.Errorf("the field %s has %q behind its type, where unique and optional may stand, once each", name, word)
		}
	}
	return f, f.fits()
}

func parseType(name, kind string) (Field, error) {
	if kind == ref || strings.HasPrefix(kind, ref+"=") {
		return newRef(name, strings.TrimPrefix(kind[len(ref):], "="))
	}
	if why := reservedColumn(name); why != "" {
		return Field{}, fmt.Errorf("the field %s is reserved: %s", name, why)
	}
	if kind == "" {
		return Field{}, fmt.Errorf("the field %s needs a type, such as %s:string; there are %s", name, name, strings.Join(types(), ", "))
	}
	if fieldTypes[kind].sql == "" {
		return Field{}, fmt.Errorf("the field %s cannot be %q, which is no type; there are %s", name, kind, strings.Join(types(), ", "))
	}
	return newField(name, kind), nil
}

// fits refuses what cannot be unique or optional.
func (f Field) fits() error {
	text := f.Type == "string" || f.Type == "text"
	switch {
	case f.Unique && (f.Type == "bool" || f.Type == "text"):
		return fmt.Errorf("the field %s cannot be unique: a %s is too %s for that", f.Column, f.Type, map[string]string{"bool": "small", "text": "long"}[f.Type])
	case f.Unique && f.Type == ref:
		return fmt.Errorf("the field %s cannot be unique here: write that into its migration, and three of what it refers to into the test", f.Ref.Label)
	case f.Optional && f.Type == "bool":
		return fmt.Errorf("the field %s need not be optional: a bool that is left out is false", f.Column)
	case f.Optional && f.Unique && text:
		return fmt.Errorf("the field %s cannot be both: text that is left out is empty, and two would be the same", f.Column)
	}
	return nil
}
