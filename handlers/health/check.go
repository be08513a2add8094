package health

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"time"
)

// Check asks the health URL of the server on this machine that listens on
// listenAddr, in at most 3 seconds.
func Check(ctx context.Context, listenAddr string) error {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	host, port, err := net.SplitHostPort(listenAddr)
	if err != nil {
		return err
	}
	if ip := net.ParseIP(host); host == "" || ip.IsUnspecified() {
		host = "localhost"
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+net.JoinHostPort(host, port)+"/healthz", nil)
	if err != nil {
		return err
	}
	response, err := (&http.Client{Transport: &http.Transport{Proxy: nil}}).Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode/100 != 2 {
		return fmt.Errorf("unhealthy: status %d", response.StatusCode)
	}
	return nil
}
