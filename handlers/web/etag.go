package web

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
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

// Tagged answers what there is as JSON, with its ETag.
func Tagged(c echo.Context, status int, what any) error {
	tag, err := ETag(what)
	if err != nil {
		return err
	}
	c.Response().Header().Set("ETag", tag)
	return c.JSON(status, what)
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
	for t := range strings.SplitSeq(strings.Join(asked, ","), ",") {
		if t = strings.TrimSpace(t); t == tag || t == "*" {
			return nil
		}
	}
	return &changedError{current}
}
