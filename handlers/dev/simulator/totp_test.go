package simulator

import (
	"testing"
	"time"
)

// The values are those of RFC 6238, appendix B, cut to six digits.
func TestSimulator_SecondFactorCodesAreTheStandards(t *testing.T) {
	t.Parallel()
	const secret = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ" // "12345678901234567890"
	for at, want := range map[int64]string{59: "287082", 1111111109: "081804", 1234567890: "005924", 20000000000: "353130"} {
		if got := totp(secret, time.Unix(at, 0)); got != want {
			t.Errorf("code at %d = %s, want %s", at, got, want)
		}
	}
	now := time.Unix(1234567890, 0)
	if !totpMatches(secret, "005924", now.Add(totpStep)) {
		t.Error("the code of half a minute ago is refused")
	}
	if totpMatches(secret, "005924", now.Add(3*totpStep)) || totpMatches("!", "", now) {
		t.Error("an old code, or none, is accepted")
	}
	if len(totp(newSecret(), now)) != 6 {
		t.Error("a new secret has no code")
	}
}
