package platform

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// SignatureHeader carries a webhook's signature (contract, section 5).
const SignatureHeader = "X-Webhook-Signature"

// Sign returns the lower-case hexadecimal HMAC-SHA256 of the raw body, as the
// platform sends it in SignatureHeader (contract, section 5).
func Sign(secret string, body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	return hex.EncodeToString(mac.Sum(nil))
}

// IsSignature reports whether s has the form of one: 64 lower-case hexadecimal
// digits.
func IsSignature(s string) bool {
	return len(s) == 2*sha256.Size && strings.Trim(s, "0123456789abcdef") == ""
}

// Verify reports whether signature is that of body under secret. It compares
// in constant time and accepts nothing but 64 lower-case hexadecimal digits.
// An empty secret verifies nothing.
func Verify(secret string, body []byte, signature string) bool {
	return secret != "" && hmac.Equal([]byte(Sign(secret, body)), []byte(signature))
}
