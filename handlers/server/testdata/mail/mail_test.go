package handlers

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/emersion/go-smtp"

	"example.com/subproduct/handlers/config"
	"example.com/subproduct/handlers/handlertest"
	"example.com/subproduct/handlers/server"
	"example.com/subproduct/tenancy"
	"example.com/subproduct/tenancy/jobs"
)

// product is what the recipe adds to one.
func product() server.Product {
	m := &mailer{}
	return server.Product{
		Name: "Invoices", Slug: "invoices",
		Settings: m.settings,
		Routes:   func(r server.Routes) { r.User.POST("/api/invoices/:number/mail", mails{r.DB, m}.request) },
		Jobs:     func(db *tenancy.DB) []jobs.Declared { return []jobs.Declared{jobs.Handle(mails{db, m}.send)} },
	}
}

// post is a mail server that keeps what it gets, and refuses some.
type post struct {
	mu       sync.Mutex
	received []string
	down     int // so many mails are turned away for now
}

func (p *post) NewSession(*smtp.Conn) (smtp.Session, error) { return &visit{post: p}, nil }

type visit struct {
	post *post
	to   string
}

func (*visit) Reset()                               {}
func (*visit) Logout() error                        { return nil }
func (*visit) Mail(string, *smtp.MailOptions) error { return nil }

func (v *visit) Rcpt(to string, _ *smtp.RcptOptions) error {
	v.to = to
	if strings.HasPrefix(to, "nobody@") {
		return &smtp.SMTPError{Code: 550, EnhancedCode: smtp.EnhancedCode{5, 1, 1}, Message: "no such mailbox"}
	}
	return nil
}

func (v *visit) Data(r io.Reader) error {
	text, err := io.ReadAll(r)
	v.post.mu.Lock()
	defer v.post.mu.Unlock()
	if v.post.down > 0 {
		v.post.down--
		return &smtp.SMTPError{Code: 451, EnhancedCode: smtp.EnhancedCode{4, 3, 0}, Message: "come back later"}
	}
	v.post.received = append(v.post.received, v.to+"\n"+string(text))
	return err
}

func (p *post) all() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.received, "\n---\n")
}

// open starts the mail server and returns its address.
func (p *post) open(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := smtp.NewServer(p)
	done := make(chan struct{})
	go func() { defer close(done); _ = server.Serve(l) }()
	t.Cleanup(func() { _ = server.Close(); <-done })
	return l.Addr().String()
}

func TestMail_IsSentAndTriedAgain(t *testing.T) {
	t.Parallel()
	harness := &post{down: 1}
	var log handlertest.Log
	p := product()
	p.TenantSchema = fstest.MapFS{
		"000001_invoices.up.sql": {Data: []byte(`CREATE TABLE invoices (number text PRIMARY KEY, amount numeric(12,2) NOT NULL)`)},
	}
	site := handlertest.Start(t, p, handlertest.Setup{Jobs: true, Log: &log,
		Env: map[string]string{"SMTP_ADDR": harness.open(t), "MAIL_FROM": "Invoices <invoices@product.example>"}})
	b := site.SignIn(t, "acme")
	site.TenantExec(t, "acme", `INSERT INTO invoices (number, amount) VALUES ('2026-7', 12.5)`)
	order := func(number, to string) {
		if answer := b.Post("/api/invoices/"+number+"/mail", url.Values{"to": {to}}); answer.Status != http.StatusAccepted {
			t.Errorf("%s to %s: %d %s", number, to, answer.Status, answer.Body)
		}
	}
	order("2026-7", "ada@acme.example")
	handlertest.Await(t, "the mail is sent at the second attempt", func() bool { return strings.Contains(log.String(), `"msg":"job done"`) })
	for _, want := range []string{"ada@acme.example\n", `From: "Invoices" <invoices@product.example>`, "Subject: Invoice 2026-7", "over 12.50 EUR", "@product.example>\r\n"} {
		if text := harness.all(); !strings.Contains(text, want) {
			t.Errorf("no %q in:\n%s", want, text)
		}
	}
	order("2026-7", "nobody@acme.example")
	order("2026-7", "no address")
	order("2026-8", "ada@acme.example")
	handlertest.Await(t, "three mails that can never be sent are given up", func() bool {
		return strings.Count(log.String(), "job failed for good") == 3
	})
	if n := strings.Count(harness.all(), "Subject: "); n != 1 {
		t.Errorf("%d mails, want one", n)
	}
}

// A password is not told to a server without TLS.
func TestMail_ALoginNeedsTLS(t *testing.T) {
	t.Parallel()
	harness := &post{}
	var m mailer
	env := map[string]string{"SMTP_ADDR": harness.open(t), "SMTP_LOGIN": "user:word", "MAIL_FROM": "a@product.example"}
	m.settings(config.NewReader(func(name string) (string, bool) { v, ok := env[name]; return v, ok }))
	err := m.send(t.Context(), "1", "ada@acme.example", "Hello", invoiceMail, struct{ Number, Amount string }{})
	if err == nil || errors.Is(err, errRefused) || !strings.Contains(err.Error(), "STARTTLS") || harness.all() != "" {
		t.Errorf("%v", err)
	}
}
