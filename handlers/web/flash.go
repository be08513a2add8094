package web

import (
	"encoding/base64"
	"net/http"
	"unicode/utf8"

	"github.com/labstack/echo/v4"
)

const (
	secureKey     = "secure"
	maxFlash      = 300 // bytes
	flashLifetime = 60  // seconds
)

// Flash has the next page show the text once, as .Flash: call it before a
// redirect. It travels in a cookie of the browser's and costs no query, so it
// proves nothing and is no place for secrets; a page escapes it.
func Flash(c echo.Context, text string) {
	for len(text) > maxFlash {
		_, size := utf8.DecodeLastRuneInString(text)
		text = text[:len(text)-size]
	}
	setFlash(c, base64.RawURLEncoding.EncodeToString([]byte(text)), flashLifetime)
}

// takeFlash is the text that was left for this page, which forgets it.
func takeFlash(c echo.Context) string {
	cookie, err := c.Cookie(flashName(c))
	if err != nil {
		return ""
	}
	setFlash(c, "", -1)
	text, err := base64.RawURLEncoding.DecodeString(cookie.Value)
	if err != nil || len(text) > maxFlash || !utf8.Valid(text) {
		return ""
	}
	return string(text)
}

func setFlash(c echo.Context, value string, maxAge int) {
	secure, _ := c.Get(secureKey).(bool)
	c.SetCookie(&http.Cookie{
		Name: flashName(c), Value: value, Path: "/", MaxAge: maxAge, HttpOnly: true, Secure: secure, SameSite: http.SameSiteLaxMode,
	})
}

// flashName is the cookie's; on https no neighbouring site can set one of it.
func flashName(c echo.Context) string {
	if secure, _ := c.Get(secureKey).(bool); secure {
		return "__Host-flash"
	}
	return "flash"
}
