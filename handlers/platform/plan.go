package platform

import (
	"encoding/json"
	"strings"
)

// Plan returns the plan that an event's body names. The contract does not show
// where it stands, so fields lists dotted paths to look at, and the first with a
// usable text is taken: not empty, at most 512 bytes, no control characters. It
// is empty where there is none.
func Plan(body []byte, fields []string) string {
	var object map[string]json.RawMessage
	if json.Unmarshal(body, &object) != nil {
		return ""
	}
	for _, field := range fields {
		var plan string
		raw := lookup(object, strings.Split(field, "."))
		if raw != nil && json.Unmarshal(raw, &plan) == nil && plan != "" && usableText(plan) {
			return plan
		}
	}
	return ""
}
