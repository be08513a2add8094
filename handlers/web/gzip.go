package web

import (
	"bytes"
	"compress/gzip"
	"mime"
	"net/http"
	"strconv"
	"strings"
)

// compress is content as gzip has it; nil where that saves less than a tenth,
// as with images. Pages are never compressed: they hold secrets, whose bytes
// could be guessed by the length.
func compress(content []byte) []byte {
	var out bytes.Buffer
	w, _ := gzip.NewWriterLevel(&out, gzip.BestCompression) // fails for an unknown level only
	_, _ = w.Write(content)                                 // a buffer takes everything
	_ = w.Close()
	if out.Len() > len(content)*9/10 {
		return nil
	}
	return out.Bytes()
}

// wantsGzip reports whether the answer may be compressed. Ranges and
// preconditions on them are about the plain bytes.
func wantsGzip(r *http.Request) bool {
	plain := r.Header.Get("Range") != "" || r.Header.Get("If-Match") != ""
	return !plain && acceptsGzip(strings.Join(r.Header.Values("Accept-Encoding"), ","))
}

// acceptsGzip reads an Accept-Encoding (RFC 9110, section 12.5.3). Nothing said
// is a no.
func acceptsGzip(header string) bool {
	rest := false
	for coding := range strings.SplitSeq(header, ",") {
		name, params, err := mime.ParseMediaType(coding)
		if err != nil {
			continue
		}
		q, err := strconv.ParseFloat(params["q"], 64)
		accepted := params["q"] == "" || err == nil && q > 0
		switch name {
		case "gzip":
			return accepted
		case "*":
			rest = accepted
		}
	}
	return rest
}
