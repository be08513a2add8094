package doctor

import (
	"context"
	"io"
	"net/http"
	"strings"
)

// answer is what somebody has said to a request.
type answer struct {
	status   int
	body     string
	location string
	date     string
}

// ask sends a request, as whoever calls an address does who follows no redirect.
func ask(ctx context.Context, method, address, body string, header http.Header) (answer, error) {
	request, err := http.NewRequestWithContext(ctx, method, address, strings.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	for name, values := range header {
		request.Header[name] = values
	}
	client := &http.Client{
		Transport:     &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	response, err := client.Do(request)
	if err != nil {
		return answer{}, err
	}
	defer response.Body.Close()
	content, err := io.ReadAll(io.LimitReader(response.Body, 4<<10))
	return answer{response.StatusCode, string(content), response.Header.Get("Location"), response.Header.Get("Date")}, err
}
