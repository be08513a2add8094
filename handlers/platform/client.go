package platform

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
)

// What an exchange can fail with. None of them carries the code, the API key
// or anything of the platform's body.
var (
	ErrCodeRefused = errors.New("the platform refused the sign-in code")
	ErrTimeout     = errors.New("the platform did not answer in time")
	ErrUnavailable = errors.New("the platform is unreachable")
	ErrBadAnswer   = errors.New("the platform's answer makes no sense")
)

// ErrKeyRefused is the ErrCodeRefused of a platform that did not accept who asks.
// The contract does not show the refusals: it may mean the code all the same.
var ErrKeyRefused = fmt.Errorf("%w, or the API key", ErrCodeRefused)

const (
	exchangeTimeout = 5 * time.Second
	maxUserInfo     = 1 << 20
)

// Client speaks to the platform on behalf of one sub-product.
type Client struct {
	settings Settings
	http     *http.Client
}

// Settings are a sub-product's side of its registration at the platform.
type Settings struct {
	PlatformURL       string // {platform_url}: where browsers go
	BaseURL           string // {base_url}: where this server calls
	AppSlug           string
	APIKey            string
	TenantStatusField string
	// Observe, when not nil, hears of every exchange: how it ended, in one word,
	// and how long it took.
	Observe func(outcome string, took time.Duration)
}

// NewClient returns a client that never follows redirects (they would carry
// the API key elsewhere) and opens a connection for each call: a kept one may
// have died unnoticed, and a code must not be sent a second time.
func NewClient(s Settings) *Client {
	transport := &http.Transport{
		Proxy:             http.ProxyFromEnvironment,
		DialContext:       (&net.Dialer{Timeout: exchangeTimeout}).DialContext,
		DisableKeepAlives: true,
	}
	return &Client{settings: s, http: &http.Client{
		Transport:     transport,
		Timeout:       exchangeTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// LoginURL is where a browser is sent to sign in (contract, SSO rule 1);
// callback is the address that it comes back to with a code.
func (c *Client) LoginURL(callback string) string {
	query := url.Values{"appSlug": {c.settings.AppSlug}, "redirect": {callback}}
	return strings.TrimRight(c.settings.PlatformURL, "/") + "/auth/sso?" + query.Encode()
}

// Exchange trades a one-time code for the user it was issued to (contract, SSO
// rule 4), in at most 5 seconds and once: whatever happens the code is spent.
// It returns ErrKeyRefused (401, 403), ErrCodeRefused (4xx), ErrTimeout,
// ErrUnavailable (no connection, or 5xx) or ErrBadAnswer, each possibly wrapped
// with a reason for the log.
func (c *Client) Exchange(ctx context.Context, code string) (UserInfo, error) {
	began := time.Now()
	user, err := c.exchange(ctx, code)
	if c.settings.Observe != nil {
		c.settings.Observe(outcome(err), time.Since(began))
	}
	return user, err
}

func (c *Client) exchange(ctx context.Context, code string) (UserInfo, error) {
	request, err := c.exchangeRequest(ctx, code)
	if err != nil {
		return UserInfo{}, err
	}
	response, err := c.http.Do(request)
	if err != nil {
		return UserInfo{}, transportError(err)
	}
	defer response.Body.Close()
	if err := statusError(response.StatusCode); err != nil {
		return UserInfo{}, err
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, maxUserInfo+1))
	if err != nil {
		return UserInfo{}, transportError(err)
	}
	if len(body) > maxUserInfo {
		return UserInfo{}, fmt.Errorf("%w: over %d bytes", ErrBadAnswer, maxUserInfo)
	}
	user, err := parseUserInfo(body, c.settings.TenantStatusField)
	if err != nil {
		return UserInfo{}, fmt.Errorf("%w: %w", ErrBadAnswer, err)
	}
	return user, nil
}

func (c *Client) exchangeRequest(ctx context.Context, code string) (*http.Request, error) {
	body, err := json.Marshal(map[string]string{"code": code})
	if err != nil {
		return nil, err
	}
	address := strings.TrimRight(c.settings.BaseURL, "/") + "/api/v1/auth/sso/user-info"
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	request.GetBody = nil // net/http could otherwise send the code again
	request.Header.Set("X-Api-Key", c.settings.APIKey)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json")
	return request, nil
}

func statusError(status int) error {
	switch {
	case status >= 200 && status < 300:
		return nil
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return fmt.Errorf("%w: status %d", ErrKeyRefused, status)
	case status >= 400 && status < 500:
		return fmt.Errorf("%w: status %d", ErrCodeRefused, status)
	case status >= 500:
		return fmt.Errorf("%w: status %d", ErrUnavailable, status)
	}
	return fmt.Errorf("%w: status %d", ErrBadAnswer, status)
}

func transportError(err error) error {
	if timeout := net.Error(nil); errors.Is(err, os.ErrDeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout() {
		return fmt.Errorf("%w: %w", ErrTimeout, err)
	}
	return fmt.Errorf("%w: %w", ErrUnavailable, err)
}
