package web_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/labstack/echo/v4"

	"example.com/subproduct/handlers/web"
)

func context(t *testing.T, method, target string) echo.Context {
	t.Helper()
	return echo.New().NewContext(httptest.NewRequestWithContext(t.Context(), method, target, nil), httptest.NewRecorder())
}

// Each cursor leads to the next part, and the last part has none.
func TestWindow_GoesThroughAList(t *testing.T) {
	t.Parallel()
	var seen []int64
	cursor := ""
	for range 4 {
		w, err := web.ReadWindow(context(t, http.MethodGet, "/?q=+a+&limit=2&cursor="+cursor), 25)
		if err != nil || w.Limit != 2 || w.Search != "a" || w.First() != (cursor == "") {
			t.Fatalf("%+v, %v", w, err)
		}
		var found []int64 // as a query with LIMIT w.Limit+1 would
		for id := int64(6); id > 0; id-- {
			if id < w.Before && len(found) <= w.Limit {
				found = append(found, id)
			}
		}
		shown, next := web.Cut(w, found, func(id int64) int64 { return id })
		seen = append(seen, shown...)
		if cursor = next; next == "" {
			break
		}
	}
	if !slices.Equal(seen, []int64{6, 5, 4, 3, 2, 1}) || cursor != "" {
		t.Errorf("%v, and more at %q", seen, cursor)
	}
}

func TestWindow_RefusesWhatItCannotRead(t *testing.T) {
	t.Parallel()
	for query, field := range map[string]string{
		"limit=0": "limit", "limit=101": "limit", "limit=x": "limit", "limit=-1": "limit", "cursor=0": "cursor", "cursor=x": "cursor",
		"cursor=99999999999999999999": "cursor", "q=%00": "q", "q=" + url.QueryEscape(strings.Repeat("ä", 201)): "q",
		"limit=100": "", "": "", "limit=&cursor=&q=": "", "q=%25": "",
	} {
		_, err := web.ReadWindow(context(t, http.MethodGet, "/?"+query), 100)
		if invalid := web.Invalid(nil); errors.As(err, &invalid) != (field != "") || field != "" && invalid[field] == "" {
			t.Errorf("%s: %v, want %q wrong", query, err, field)
		}
	}
}

func TestIfMatch_IsForTheStateThatWasRead(t *testing.T) {
	t.Parallel()
	state := map[string]string{"title": "a"}
	tag, err := web.ETag(state)
	if err != nil {
		t.Fatal(err)
	}
	if other, _ := web.ETag(map[string]string{"title": "b"}); other == tag {
		t.Error("another state has the same tag")
	}
	for asked, fits := range map[string]bool{"": true, tag: true, `"x", ` + tag: true, "*": true, `"x"`: false, "W/" + tag: false, "x": false} {
		c := context(t, http.MethodPatch, "/")
		if asked != "" {
			c.Request().Header.Set("If-Match", asked)
		}
		err := web.IfMatch(c, state)
		if fits != (err == nil) || err != nil && web.NewBoundary(nil, false).Problem(err).Status != http.StatusPreconditionFailed {
			t.Errorf("If-Match %s: %v", asked, err)
		}
	}
}

// A client that has what there is gets no body, if it only reads; one that asks
// for a state that is gone gets what there is now.
func TestTagged_WhatTheClientHasIsNotSentAgain(t *testing.T) {
	t.Parallel()
	state := map[string]string{"title": "a"}
	tag, _ := web.ETag(state)
	for _, c := range []struct {
		method, asked string
		status, want  int
	}{
		{http.MethodGet, "", 200, 200}, {http.MethodGet, tag, 200, 304}, {http.MethodHead, tag, 200, 304},
		{http.MethodGet, `"x", ` + tag, 200, 304}, {http.MethodGet, "W/" + tag, 200, 304}, {http.MethodGet, "*", 200, 304},
		{http.MethodGet, `"x", W/"y"`, 200, 200}, {http.MethodGet, strings.Trim(tag, `"`), 200, 200},
		{http.MethodPatch, tag, 200, 200}, {http.MethodPost, "*", 201, 201}, {http.MethodGet, tag, 202, 202},
	} {
		said := httptest.NewRecorder()
		asks := httptest.NewRequestWithContext(t.Context(), c.method, "/", nil)
		if c.asked != "" {
			asks.Header.Set("If-None-Match", c.asked)
		}
		err := web.Tagged(echo.New().NewContext(asks, said), c.status, state)
		if err != nil || said.Code != c.want || said.Header().Get("ETag") != tag || (said.Body.Len() == 0) != (c.want == 304) {
			t.Errorf("%s, If-None-Match %s: %d %q, want %d; %v", c.method, c.asked, said.Code, said.Body, c.want, err)
		}
	}
}
