package platform

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"
)

// UserInfo is the platform's answer to an SSO code (contract, section 2).
type UserInfo struct {
	UserID             string `json:"userId"`
	Email              string `json:"email"`
	TenantSlug         string `json:"tenantSlug"`
	PlanType           string `json:"planType"`
	SubscriptionStatus string `json:"subscriptionStatus"`
	// TenantStatus comes from the field that the client is told to look at: the
	// contract has the field but does not show its name. Empty when absent.
	TenantStatus string `json:"-"`
}

// parseUserInfo reads an answer of the user-info call. The five named fields
// must be strings, and the three that decide about access must not be empty.
func parseUserInfo(body []byte, tenantStatusField string) (UserInfo, error) {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(body, &object); err != nil || object == nil {
		return UserInfo{}, errors.New("not a JSON object")
	}
	var u UserInfo
	var problems []error
	field := func(name string, to *string, required bool) {
		raw, there := object[name]
		if there && json.Unmarshal(raw, to) != nil {
			problems = append(problems, fmt.Errorf("%s is not a string", name))
		} else if required && *to == "" {
			problems = append(problems, fmt.Errorf("%s is missing", name))
		} else if !usableText(*to) {
			problems = append(problems, fmt.Errorf("%s is over 512 bytes or has control characters", name))
		}
	}
	field("userId", &u.UserID, true)
	field("email", &u.Email, false)
	field("tenantSlug", &u.TenantSlug, true)
	field("planType", &u.PlanType, false)
	field("subscriptionStatus", &u.SubscriptionStatus, true)
	if raw := object[tenantStatusField]; tenantStatusField != "" && raw != nil && string(raw) != "null" {
		u.TenantStatus = text(raw)
	}
	return u, errors.Join(problems...)
}

// usableText bounds what is kept and shown of the platform's texts.
func usableText(s string) bool { return len(s) <= 512 && strings.IndexFunc(s, unusable) < 0 }

// unusable are control characters, and what a decoder puts for broken text: two
// broken ids would otherwise be one person.
func unusable(r rune) bool { return unicode.IsControl(r) || r == unicode.ReplacementChar }
