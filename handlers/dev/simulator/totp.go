package simulator

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha1"
	"crypto/subtle"
	"encoding/base32"
	"encoding/binary"
	"fmt"
	"time"
)

// totpStep is how long one code of the second factor is shown.
const totpStep = 30 * time.Second

// newSecret is a fresh second-factor secret, base32 as authenticator apps take it.
func newSecret() string {
	return rand.Text()[:16] // whole base32 groups: 80 bits
}

// totp is the second factor's code at a time (RFC 6238, SHA-1, 6 digits), empty
// for a secret that is no base32.
func totp(secret string, at time.Time) string {
	key, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(secret)
	if err != nil {
		return ""
	}
	mac := hmac.New(sha1.New, key)
	mac.Write(binary.BigEndian.AppendUint64(nil, uint64(at.Unix())/uint64(totpStep.Seconds())))
	sum := mac.Sum(nil)
	offset := sum[len(sum)-1] & 0x0f
	return fmt.Sprintf("%06d", binary.BigEndian.Uint32(sum[offset:])&0x7fffffff%1_000_000)
}

// totpMatches accepts the neighbouring codes too: clocks differ, typing takes time.
func totpMatches(secret, code string, at time.Time) bool {
	for _, drift := range []time.Duration{0, -totpStep, totpStep} {
		want := totp(secret, at.Add(drift))
		if want != "" && subtle.ConstantTimeCompare([]byte(want), []byte(code)) == 1 {
			return true
		}
	}
	return false
}
