package templates_test

import (
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

var (
	// unlabelled are the inputs that nobody sees, or whose value says what they are.
	unlabelled = strings.Fields("hidden submit button reset image")
	elsewhere  = regexp.MustCompile(`^\s*(//|[a-zA-Z][a-zA-Z0-9+.-]*:)`)
)

// element judges a tag by itself.
func (j *judge) element(el html.Token) {
	attrs := map[string]string{}
	for _, a := range el.Attr {
		attrs[a.Key] = a.Val
		if a.Key == "style" || strings.HasPrefix(a.Key, "on") {
			j.fault("<%s %s=…>: the content security policy drops it", el.Data, a.Key)
		}
	}
	switch el.Data {
	case "style":
		j.fault("<style>: the content security policy drops it")
	case "script":
		j.script(attrs)
	case "input", "select", "textarea":
		j.field(attrs)
	}
	j.identity(attrs)
	for _, class := range strings.Fields(attrs["class"]) {
		if !j.looks.knows(class) {
			j.fault("no style sheet has .%s, and no script mentions it", class)
		}
	}
}

// script judges where a script comes from. Data in JSON is none.
func (j *judge) script(attrs map[string]string) {
	src, fromFile := attrs["src"]
	j.noCode = fromFile || !strings.Contains(attrs["type"], "json")
	if elsewhere.MatchString(src) {
		j.fault("<script src=%q>: the content security policy drops what is not of this server", src)
	}
}

func (j *judge) identity(attrs map[string]string) {
	if id, ok := attrs["id"]; ok {
		if slices.Contains(j.ids, id) && !strings.Contains(id, action) {
			j.fault("the id %q is there twice", id)
		}
		j.ids, j.all[id] = append(j.ids, id), true
	}
	if id, ok := attrs["for"]; ok {
		j.labels[id], j.refs[id] = true, true
	}
	for _, id := range strings.Fields(attrs["aria-describedby"] + " " + attrs["aria-labelledby"]) {
		j.refs[id] = true
	}
}

// field remembers whether a field says itself what it is for, or stands in a label.
func (j *judge) field(attrs map[string]string) {
	if slices.Contains(unlabelled, strings.ToLower(attrs["type"])) || strings.Contains(attrs["type"], action) {
		return
	}
	named := slices.Contains(j.open, "label")
	for key, value := range attrs {
		says := slices.Contains([]string{"aria-label", "aria-labelledby", "title"}, key)
		named = named || says && value != "" || strings.Contains(key, action)
	}
	key := attrs["id"]
	if key == "" {
		key = attrs["name"]
	}
	j.fields[key] = j.fields[key] || named
}

// among reports whether an id is one of these, or may be one.
func among(ids map[string]bool, id string) bool {
	for other := range ids {
		if id == other || mayBe(id, other) || mayBe(other, id) {
			return true
		}
	}
	return false
}

// mayBe reports whether what the actions of a value write can make it the other.
func mayBe(value, other string) bool {
	if !strings.Contains(value, action) {
		return false
	}
	pattern := "^" + strings.ReplaceAll(regexp.QuoteMeta(value), action, ".*") + "$"
	return regexp.MustCompile(pattern).MatchString(other)
}
