package web

import (
	"fmt"
	"reflect"
	"time"
)

// FormOf is a form that shows what there is, ready to be changed. A nil pointer
// is an empty field.
func FormOf(id int64, fields map[string]any) Form {
	f := Form{ID: id, Values: map[string]string{}}
	for name, v := range fields {
		if p := reflect.ValueOf(v); p.Kind() == reflect.Pointer {
			if p.IsNil() {
				continue
			}
			v = p.Elem().Interface()
		}
		if t, ok := v.(time.Time); ok {
			v = t.UTC().Format(formTime + ":05")
		}
		f.Values[name] = fmt.Sprint(v)
	}
	return f
}
