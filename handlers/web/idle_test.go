package web_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"example.com/subproduct/handlers/handlertest"
	"example.com/subproduct/handlers/handlertest/fixture"
)

func TestServer_IdleConnectionsAreClosedAfterTheSetting(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{Env: map[string]string{"IDLE_TIMEOUT": "100ms"}})
	conn, err := net.Dial("tcp", strings.TrimPrefix(site.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	_, _ = io.WriteString(conn, "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n")
	r := bufio.NewReader(conn)
	answer, err := http.ReadResponse(r, nil)
	if err != nil || answer.StatusCode != http.StatusOK || answer.Close {
		t.Fatalf("%v %v", answer, err)
	}
	_, _ = io.Copy(io.Discard, answer.Body)
	if _, err := r.ReadByte(); err != io.EOF {
		t.Errorf("the connection is idle, and not closed: %v", err)
	}
}
