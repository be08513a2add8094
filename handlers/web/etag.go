package web

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"
)

// ETag is the tag of what is answered as JSON: it is another when that is.
func ETag(of any) (string, error) {
	body, err := json.Marshal(of)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(body)
	return `"` + hex.EncodeToString(sum[:16]) + `"`, nil
}

// Tagged answers what there is as JSON, with its ETag. A GET or HEAD whose
// If-None-Match has that tag is answered 304 without a body: the client has it.
func Tagged(c echo.Context, status int, what any) error {
	tag, err := ETag(what)
	if err != nil {
		return err
	}
	c.Response().Header().Set("ETag", tag)
	reads := c.Request().Method == http.MethodGet || c.Request().Method == http.MethodHead
	// The comparison is the weak one (RFC 9110, section 8.8.3.2): ours are all strong.
	known := strings.ReplaceAll(strings.Join(c.Request().Header.Values("If-None-Match"), ","), `W/"`, `"`)
	if reads && status == http.StatusOK && lists(known, tag) {
		return c.NoContent(http.StatusNotModified)
	}
	return c.JSON(status, what)
}

// lists reports whether a header's list of tags has this one, or any.
func lists(tags, tag string) bool {
	for t := range strings.SplitSeq(tags, ",") {
		if t = strings.TrimSpace(t); t == tag || t == "*" {
			return true
		}
	}
	return false
}

// IfMatch returns an error that is answered 412 when the request was made for
// another state than the current one: its header If-Match says for which, or the
// field of Form.For; without either it is for any. Ask where nobody can change it
// in between: in the transaction that changes it, behind SELECT … FOR UPDATE or
// DELETE … RETURNING.
func IfMatch(c echo.Context, current any) error {
	asked := c.Request().Header.Values("If-Match")
	if version := c.Request().PostForm.Get(versionField); version != "" {
		asked = append(asked, version)
	}
	if len(asked) == 0 {
		return nil
	}
	tag, err := ETag(current)
	if err != nil {
		return err
	}
	if lists(strings.Join(asked, ","), tag) {
		return nil
	}
	return &changedError{current}
}
