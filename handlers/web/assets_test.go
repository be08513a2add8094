package web_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"testing/fstest"

	"example.com/subproduct/handlers/handlertest"
	"example.com/subproduct/handlers/handlertest/fixture"
	"example.com/subproduct/handlers/web"
)

var style = strings.Repeat("body { color: black }\n", 500)

// withStatic is a site whose static files can and cannot be compressed, and the
// addresses of both.
func withStatic(t *testing.T) (b *handlertest.Browser, css, image string) {
	t.Helper()
	noise := make([]byte, 8192)
	_, _ = rand.NewChaCha8([32]byte{}).Read(noise)
	p := fixture.Product()
	p.Static = fstest.MapFS{"app.css": {Data: []byte(style)}, "favicon.svg": {Data: []byte("<svg/>")}, "noise.png": {Data: noise}}
	assets, err := web.NewAssets(p.Static, true)
	if err != nil {
		t.Fatal(err)
	}
	css, _ = assets.URL("app.css")
	image, _ = assets.URL("noise.png")
	return handlertest.Start(t, p, handlertest.Setup{}).Browser(t), css, image
}

// fetch says which codings it takes, so that nobody decodes behind our back.
func fetch(b *handlertest.Browser, method, path, codings string, more ...string) handlertest.Answer {
	header := http.Header{"Accept-Encoding": {codings}}
	for i := 0; i < len(more); i += 2 {
		header.Set(more[i], more[i+1])
	}
	return b.Do(method, path, nil, header)
}

func TestAssets_AreCompressedForThoseWhoTakeIt(t *testing.T) {
	t.Parallel()
	b, css, image := withStatic(t)
	plain, packed := fetch(b, http.MethodGet, css, "identity"), fetch(b, http.MethodGet, css, "br, gzip;q=0.5")
	r, err := gzip.NewReader(strings.NewReader(packed.Body))
	if err != nil {
		t.Fatal(err)
	}
	if unpacked, err := io.ReadAll(r); err != nil || string(unpacked) != style || plain.Body != style {
		t.Errorf("%v: %d bytes, plain %d, want %d", err, len(unpacked), len(plain.Body), len(style))
	}
	for name, answer := range map[string]handlertest.Answer{"plain": plain, "gzip": packed} {
		h := answer.Header
		if !strings.HasPrefix(h.Get("Content-Type"), "text/css") || h.Get("Vary") != "Accept-Encoding" || !strings.Contains(h.Get("Cache-Control"), "immutable") {
			t.Errorf("%s: %v", name, h)
		}
	}
	if packed.Header.Get("Content-Encoding") != "gzip" || plain.Header.Get("Content-Encoding") != "" || packed.Header.Get("ETag") == plain.Header.Get("ETag") {
		t.Errorf("%v\n%v", packed.Header, plain.Header)
	}
	if h := fetch(b, http.MethodGet, image, "gzip").Header; h.Get("Content-Encoding") != "" || h.Get("Vary") != "" {
		t.Errorf("an image: %v", h)
	}
	if h := fetch(b, http.MethodGet, "/", "gzip").Header; h.Get("Content-Encoding") != "" {
		t.Errorf("a page, which may hold secrets: %v", h)
	}
}

// HEAD says what GET would; what a browser has is not sent again; a range is one
// of the plain bytes.
func TestAssets_CompressedAnswersAreWhole(t *testing.T) {
	t.Parallel()
	b, css, _ := withStatic(t)
	get, head := fetch(b, http.MethodGet, css, "gzip"), fetch(b, http.MethodHead, css, "gzip")
	for _, name := range []string{"Content-Length", "Content-Encoding", "Content-Type", "ETag", "Vary"} {
		if get.Header.Get(name) == "" || head.Header.Get(name) != get.Header.Get(name) {
			t.Errorf("%s: %q, and HEAD %q", name, get.Header.Get(name), head.Header.Get(name))
		}
	}
	again := fetch(b, http.MethodGet, css, "gzip", "If-None-Match", get.Header.Get("ETag"))
	if again.Status != http.StatusNotModified || again.Body != "" {
		t.Errorf("again: %d", again.Status)
	}
	if other := fetch(b, http.MethodGet, css, "identity", "If-None-Match", get.Header.Get("ETag")); other.Status != http.StatusOK {
		t.Errorf("the other bytes: %d", other.Status)
	}
	part := fetch(b, http.MethodGet, css, "gzip", "Range", "bytes=0-3")
	if part.Status != http.StatusPartialContent || part.Body != "body" || part.Header.Get("Content-Encoding") != "" {
		t.Errorf("a range: %d %q %v", part.Status, part.Body, part.Header)
	}
	if failed := fetch(b, http.MethodGet, css, "gzip", "If-Match", `"other"`); failed.Status != http.StatusPreconditionFailed {
		t.Errorf("If-Match: %d", failed.Status)
	}
}

func TestAssets_WhatTheBrowserTakes(t *testing.T) {
	t.Parallel()
	b, css, _ := withStatic(t)
	for codings, want := range map[string]bool{
		"gzip": true, "GZIP": true, "gzip ; q=0.1": true, "*": true, "br, *;q=0.1": true, "deflate,gzip": true,
		"": false, "br": false, "gzip;q=0": false, "gzip;q=0.000": false, "*;q=0": false, "gzip;q=0, *": false, "gzipped": false,
		"identity": false, "gzip;q=x": false, ";,;": false,
	} {
		answer := fetch(b, http.MethodGet, css, codings)
		if got := bytes.HasPrefix([]byte(answer.Body), []byte{0x1f, 0x8b}); got != want || got != (answer.Header.Get("Content-Encoding") == "gzip") {
			t.Errorf("%q: %v, want %v", codings, got, want)
		}
	}
}
