package webhook_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"example.com/subproduct/handlers/handlertest"
	"example.com/subproduct/handlers/handlertest/fixture"
	"example.com/subproduct/handlers/platform"
)

const path = "/webhooks/platform"

func created(slug string) string {
	return fmt.Sprintf(`{"eventType":"subscription.created","tenantSlug":%q}`, slug)
}

// post delivers a body with these signatures.
func post(t *testing.T, site *handlertest.Site, body io.Reader, signatures ...string) handlertest.Answer {
	t.Helper()
	return site.Browser(t).Do(http.MethodPost, path, body, http.Header{
		"Content-Type": {"application/json"}, platform.SignatureHeader: signatures})
}

func deliver(t *testing.T, site *handlertest.Site, body string) handlertest.Answer {
	t.Helper()
	return post(t, site, strings.NewReader(body), platform.Sign(handlertest.WebhookSecret, []byte(body)))
}

func stored(t *testing.T, site *handlertest.Site) int {
	t.Helper()
	return handlertest.Query[int](t, site, `SELECT count(*) FROM public.webhook_events`)
}

func status(t *testing.T, site *handlertest.Site) string {
	t.Helper()
	return handlertest.Query[string](t, site, `SELECT coalesce(string_agg(status, ',' ORDER BY id), '') FROM public.webhook_events`)
}

func TestWebhook_ABadSignatureIsRefusedAndNothingKept(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{})
	body := created("acme")
	good := platform.Sign(handlertest.WebhookSecret, []byte(body))
	for name, signatures := range map[string][]string{
		"missing": nil, "empty": {""}, "malformed": {"zz"}, "upper case": {strings.ToUpper(good)}, "prefixed": {"sha256=" + good},
		"cut": {good[:63]}, "of another secret": {platform.Sign("other", []byte(body))}, "of another body": {platform.Sign(handlertest.WebhookSecret, []byte(body+" "))},
		"twice": {good, good}, "a good and a bad one": {good, "zz"}, "a list": {good + ", " + good}, "of an empty secret": {platform.Sign("", []byte(body))},
	} {
		answer := post(t, site, strings.NewReader(body), signatures...)
		if answer.Status != http.StatusUnauthorized || answer.Body != "invalid signature" || !strings.HasPrefix(answer.Header.Get("Content-Type"), "text/plain") {
			t.Errorf("%s: %d %q", name, answer.Status, answer.Body)
		}
	}
	if n := stored(t, site); n != 0 {
		t.Errorf("%d events are stored", n)
	}
}

// A platform may send from what looks like a browser: its signature counts.
func TestWebhook_FromAnotherOrigin(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{})
	body := created("acme")
	for signature, want := range map[string]string{
		platform.Sign(handlertest.WebhookSecret, []byte(body)): "ok",
		platform.Sign("other", []byte(body)):                   "invalid signature",
	} {
		for name, value := range map[string]string{"Origin": "https://platform.example", "Sec-Fetch-Site": "cross-site"} {
			answer := site.Browser(t).Do(http.MethodPost, path, strings.NewReader(body), http.Header{name: {value}, platform.SignatureHeader: {signature}})
			if answer.Body != want {
				t.Errorf("%s: %d %.80q, want %q", name, answer.Status, answer.Body, want)
			}
		}
	}
}

func TestWebhook_BodiesThatAreNoEvent(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{})
	for _, body := range []string{
		"", "null", "[]", `"x"`, "7", "{", "{}", `{"eventType":""}`, `{"eventType":7}`, `{"eventType":null}`, `{"EVENTTYPE":"subscription.created"}`,
		`{"eventType":"a"} {"eventType":"b"}`, "\xef\xbb\xbf{\"eventType\":\"a\"}", `{"eventType":"a\u0000b"}`, `{"eventType":"` + strings.Repeat("x", 201) + `"}`,
		`{"eventType":"x","a":` + strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000) + `}`,
	} {
		if answer := deliver(t, site, body); answer.Status != http.StatusBadRequest {
			t.Errorf("%.40s: %d, want 400", body, answer.Status)
		}
	}
	if n := stored(t, site); n != 0 {
		t.Errorf("%d events are stored", n)
	}
}

func TestWebhook_AnswersAndTheirEffects(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		body   string
		want   int
		status string
	}{
		"handled":           {created("acme"), http.StatusOK, "done"},
		"no handler":        {`{"eventType":"invoice.paid","tenantSlug":"acme"}`, http.StatusOK, "ignored"},
		"no slug":           {`{"eventType":"subscription.created"}`, http.StatusUnprocessableEntity, "failed"},
		"impossible slug":   {created("Not A Slug"), http.StatusUnprocessableEntity, "failed"},
		"slug with NUL":     {`{"eventType":"subscription.created","slug":"a\u0000"}`, http.StatusUnprocessableEntity, "failed"},
		"slug is a number":  {`{"eventType":"subscription.created","tenantSlug":7}`, http.StatusUnprocessableEntity, "failed"},
		"slug is a boolean": {`{"eventType":"tenant.cancelled","tenantSlug":true}`, http.StatusUnprocessableEntity, "failed"},
		"slug is no string, with another behind it": {`{"eventType":"subscription.created","tenantSlug":7,"slug":"acme"}`, http.StatusUnprocessableEntity, "failed"},
		"slug is an object":                         {`{"eventType":"subscription.created","tenantSlug":{}}`, http.StatusUnprocessableEntity, "failed"},
		"slug in data":                              {`{"eventType":"subscription.created","tenantSlug":null,"data":{"tenant":{"slug":"acme"}}}`, http.StatusOK, "done"},
		"duplicate keys":                            {`{"eventType":"x","eventType":"subscription.created","tenantSlug":"a","tenantSlug":"acme"}`, http.StatusOK, "done"},
		"cancelled, unknown":                        {`{"eventType":"tenant.cancelled","tenantSlug":"acme"}`, http.StatusOK, "done"},
		"almost 1 MiB":                              {`{"eventType":"x","pad":"` + strings.Repeat("x", 1<<20-26) + `"}`, http.StatusOK, "ignored"},
		"over 1 MiB":                                {`{"eventType":"x","pad":"` + strings.Repeat("x", 1<<20-25) + `"}`, http.StatusRequestEntityTooLarge, ""},
		"9,000 levels of JSON":                      {`{"eventType":"x","a":` + strings.Repeat("[", 9_000) + strings.Repeat("]", 9_000) + `}`, http.StatusOK, "ignored"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			site := handlertest.Start(t, fixture.Product(), handlertest.Setup{})
			answer := deliver(t, site, c.body)
			if answer.Status != c.want || !strings.HasPrefix(answer.Header.Get("Content-Type"), "text/plain") {
				t.Errorf("%d %s %s, want %d as text", answer.Status, answer.Header.Get("Content-Type"), answer.Body, c.want)
			}
			if got := status(t, site); got != c.status {
				t.Errorf("stored as %q, want %q", got, c.status)
			}
			if c.status != "" && handlertest.Query[string](t, site, `SELECT convert_from(body, 'UTF8') FROM public.webhook_events`) != c.body {
				t.Error("the stored bytes are not the ones that were sent")
			}
		})
	}
}

func TestWebhook_TheSameBodyAgain(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{})
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() {
			if answer := deliver(t, site, created("acme")); answer.Status != http.StatusOK || answer.Body != "ok" {
				t.Errorf("%d %s", answer.Status, answer.Body)
			}
		})
	}
	wg.Wait()
	if got := status(t, site); got != "done" {
		t.Errorf("stored as %q, want one that is done", got)
	}
}

// Ten different events for one slug at the same time make one schema, once.
func TestWebhook_TenEventsForOneSlug(t *testing.T) {
	t.Parallel()
	once := fstest.MapFS{"000001_once.up.sql": {Data: []byte("CREATE TABLE once (n bigint); INSERT INTO once VALUES (1)")}}
	site := handlertest.Start(t, fixture.Migrating(once), handlertest.Setup{})
	var wg sync.WaitGroup
	for i := range 10 {
		wg.Go(func() {
			body := fmt.Sprintf(`{"eventType":"subscription.created","tenantSlug":"acme","id":%d}`, i)
			if answer := deliver(t, site, body); answer.Status != http.StatusOK {
				t.Errorf("%d %s", answer.Status, answer.Body)
			}
		})
	}
	wg.Wait()
	if n := handlertest.Query[int](t, site, `SELECT count(*) FROM tenant_acme.once`); n != 1 {
		t.Errorf("the script ran %d times", n)
	}
}

func TestWebhook_ASlowEventIsAcknowledgedAndGoesOn(t *testing.T) {
	t.Parallel()
	slow := fstest.MapFS{"000001_slow.up.sql": {Data: []byte("SELECT pg_sleep(6); CREATE TABLE a (id bigint)")}}
	site := handlertest.Start(t, fixture.Migrating(slow), handlertest.Setup{})
	began := time.Now()
	if answer := deliver(t, site, created("acme")); answer.Status != http.StatusAccepted || time.Since(began) >= 5*time.Second {
		t.Errorf("%d after %v; want 202 within the platform's 5 s", answer.Status, time.Since(began))
	}
	if got := status(t, site); got != "pending" {
		t.Errorf("stored as %q, want pending", got)
	}
	handlertest.Await(t, "it is done", func() bool { return status(t, site) == "done" })
}

func TestWebhook_AFailureIsKeptAndRetriedByARedelivery(t *testing.T) {
	t.Parallel()
	broken := fstest.MapFS{"000001_a.up.sql": {Data: []byte("CREATE TABLE a AS SELECT * FROM public.not_there_yet")}}
	site := handlertest.Start(t, fixture.Migrating(broken), handlertest.Setup{})
	if answer := deliver(t, site, created("acme")); answer.Status != http.StatusInternalServerError || strings.Contains(answer.Body, "not_there_yet") {
		t.Errorf("%d %s; want 500 without the reason", answer.Status, answer.Body)
	}
	if got := status(t, site); got != "pending" {
		t.Errorf("stored as %q, want pending", got)
	}
	site.Exec(t, `CREATE TABLE public.not_there_yet (id bigint)`)
	if answer := deliver(t, site, created("acme")); answer.Status != http.StatusOK {
		t.Errorf("redelivered after the repair: %d %s", answer.Status, answer.Body)
	}
	if got := status(t, site); got != "done" {
		t.Errorf("stored as %q, want one that is done", got)
	}
}

func TestWebhook_TheFormerSecretIsAcceptedAndNoted(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{Env: map[string]string{"WEBHOOK_SECRET_PREVIOUS": "former"}})
	body := created("acme")
	if answer := post(t, site, strings.NewReader(body), platform.Sign("former", []byte(body))); answer.Status != http.StatusOK {
		t.Errorf("%d %s", answer.Status, answer.Body)
	}
	if got := handlertest.Query[string](t, site, `SELECT signed_with FROM public.webhook_events`); got != "previous" {
		t.Errorf("noted as %s", got)
	}
}

func TestWebhook_BodiesOfUnknownLength(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{})
	body := []byte(created("acme"))
	chunked := struct{ io.Reader }{bytes.NewReader(body)} // hides its length: sent in chunks
	if answer := post(t, site, chunked, platform.Sign(handlertest.WebhookSecret, body)); answer.Status != http.StatusOK {
		t.Errorf("chunked: %d %s", answer.Status, answer.Body)
	}
	endless := struct{ io.Reader }{io.LimitReader(zeros{}, 5<<20)}
	if answer := post(t, site, endless, platform.Sign("", nil)); answer.Status != http.StatusRequestEntityTooLarge {
		t.Errorf("5 MiB in chunks: %d, want 413", answer.Status)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestWebhook_ABodyThatIsCutOff(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{})
	conn, err := net.Dial("tcp", strings.TrimPrefix(site.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	body := created("acme")
	fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n%s: %s\r\n\r\n%s",
		path, len(body), platform.SignatureHeader, platform.Sign(handlertest.WebhookSecret, []byte(body)), body[:10])
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err == nil {
		defer response.Body.Close()
		if response.StatusCode != http.StatusBadRequest {
			t.Errorf("%d, want 400", response.StatusCode)
		}
	} else if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Error(err)
	}
	if n := stored(t, site); n != 0 {
		t.Errorf("%d events are stored", n)
	}
}
