package simulator

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"
)

// userInfo is the answer to a code (contract, section 2). The name of the
// tenant status field is the simulator's own: the contract does not show it.
type userInfo struct {
	UserID             string `json:"userId"`
	Email              string `json:"email"`
	TenantSlug         string `json:"tenantSlug"`
	PlanType           string `json:"planType"`
	SubscriptionStatus string `json:"subscriptionStatus"`
	TenantStatus       string `json:"tenantStatus"`
}

func (s *state) userInfo(u *User) userInfo {
	t, err := find(s.Tenants, u.Tenant)
	if err != nil {
		t = &Tenant{Status: StatusNone}
	}
	return userInfo{u.ID, u.Email, u.Tenant, t.Subscription.Plan, t.subscriptionStatus(), t.Status}
}

// exchange is POST /api/v1/auth/sso/user-info (contract, section 4.1): API key
// and code in, user information out. Its refusals are the simulator's own.
func (p *Platform) exchange(w http.ResponseWriter, r *http.Request) {
	if !p.hasAPIKey(r) {
		refuse(w, http.StatusUnauthorized, "api_key_invalid", "X-Api-Key is not this product's API key")
		return
	}
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind != "application/json" {
		refuse(w, http.StatusUnsupportedMediaType, "content_type", "the contract asks for Content-Type: application/json")
		return
	}
	var in struct {
		Code string `json:"code"`
	}
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20)).Decode(&in); err != nil || in.Code == "" {
		refuse(w, http.StatusBadRequest, "body_invalid", `the body must be {"code": "…"}`)
		return
	}
	faults := p.Faults()
	info, refusal := p.redeem(in.Code)
	if refusal != "" {
		p.noteExchange(Exchange{Code: in.Code, Status: http.StatusBadRequest})
		refuse(w, http.StatusBadRequest, refusal, "the code cannot be exchanged")
		return
	}
	// The code is spent before any fault: the worst case, and the product may
	// not send it again in any.
	status, fault := faults.userInfo()
	p.noteExchange(Exchange{Code: in.Code, User: info.UserID, Status: status, Fault: fault})
	if p.waitOut(r.Context(), faults.UserInfoDelay) == nil {
		faults.answer(w, info)
	}
}

// hasAPIKey compares in constant time; without a key nobody has it.
func (p *Platform) hasAPIKey(r *http.Request) bool {
	key := p.Product().APIKey
	return key != "" && subtle.ConstantTimeCompare([]byte(key), []byte(r.Header.Get("X-Api-Key"))) == 1
}

// userInfo is the status that the faults leave, 0 for a cut connection, and
// what they do in words.
func (f Faults) userInfo() (status int, words string) {
	var on []string
	if f.UserInfoDelay > 0 {
		on = append(on, "after "+f.UserInfoDelay.String())
	}
	switch status = http.StatusOK; {
	case f.UserInfoStatus != 0:
		status, on = f.UserInfoStatus, append(on, "status")
	case f.UserInfoBody == BodyCut:
		status = 0
		fallthrough
	case f.UserInfoBody != "":
		on = append(on, f.UserInfoBody)
	}
	return status, strings.Join(on, ", ")
}

// waitOut waits for the delay of user-info, until that fault is turned off, or
// until the product gives up.
func (p *Platform) waitOut(ctx context.Context, delay Delay) error {
	for over := time.After(time.Duration(delay)); ; {
		changed := p.nextChange()
		if p.Faults().UserInfoDelay == 0 {
			return nil
		}
		select {
		case <-changed:
		case <-over:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// answer writes the user information, or what the faults make of it.
func (f Faults) answer(w http.ResponseWriter, info userInfo) {
	if f.UserInfoStatus != 0 {
		refuse(w, f.UserInfoStatus, "fault", "answered so on purpose")
		return
	}
	w.Header().Set("Content-Type", "application/json")
	switch f.UserInfoBody {
	case BodyGarbage:
		io.WriteString(w, "<html>definitely not JSON</html>")
	case BodyNumbers:
		io.WriteString(w, `{"userId":1,"email":2,"tenantSlug":3,"planType":4,"subscriptionStatus":5,"tenantStatus":6}`)
	case BodyHuge:
		writeJSON(w, http.StatusOK, struct {
			userInfo
			Padding string `json:"padding"`
		}{info, strings.Repeat("x", 2<<20)})
	case BodyCut:
		io.WriteString(w, `{"userId":"`)
		http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler) // closes the connection, unfinished
	default:
		writeJSON(w, http.StatusOK, info)
	}
}
