package handlers

import (
	"context"
	_ "embed"
	"errors"
	"net"
	"strconv"
	"strings"
	"text/template"
	"time"

	gomail "github.com/wneessen/go-mail"

	"example.com/subproduct/handlers/config"
)

// This file sends mails, which the template itself does not.

// mailer sends mails by one server. Its three settings are the product's own.
type mailer struct {
	addr  string        // host:port
	login config.Secret // user:password; empty: the server asks for none
	from  string
}

func (m *mailer) settings(r *config.Reader) {
	m.addr = r.RequiredText("SMTP_ADDR", "127.0.0.1:1025")
	m.login = r.Secret("SMTP_LOGIN")
	m.from = r.RequiredText("MAIL_FROM", "invoices@product.example")
}

//go:embed invoice.txt
var invoiceText string

// invoiceMail is given an invoice.
var invoiceMail = template.Must(template.New("invoice.txt").Parse(invoiceText))

// sendTimeout bounds one mail, the connection included.
const sendTimeout = 20 * time.Second

// errRefused says that this mail can never be sent, as it is.
var errRefused = errors.New("refused")

// send sends one mail, or returns errRefused. id is the same each time that this
// mail is sent, so that a mailbox that gets it twice shows it once.
func (m *mailer) send(ctx context.Context, id, to, subject string, text *template.Template, data any) error {
	message := gomail.NewMsg()
	message.Subject(subject)
	err := errors.Join(message.From(m.from), message.To(to), message.SetBodyTextTemplate(text, data))
	if err != nil {
		return errors.Join(errRefused, err)
	}
	_, domain, _ := strings.Cut(message.GetFrom()[0].Address, "@")
	message.SetMessageIDWithValue(id + "@" + domain)
	client, err := m.client()
	if err != nil {
		return err
	}
	err = client.DialAndSendWithContext(ctx, message)
	if answer := (*gomail.SendError)(nil); errors.As(err, &answer) && answer.ErrorCode() >= 500 {
		return errors.Join(errRefused, err)
	}
	return err
}

// client never shows a password to a server without TLS.
func (m *mailer) client() (*gomail.Client, error) {
	host, port, err := net.SplitHostPort(m.addr)
	if err != nil {
		return nil, err
	}
	number, err := strconv.Atoi(port)
	if err != nil {
		return nil, err
	}
	options := []gomail.Option{gomail.WithPort(number), gomail.WithTLSPolicy(gomail.TLSOpportunistic), gomail.WithTimeout(sendTimeout)}
	if user, password, found := strings.Cut(m.login.Reveal(), ":"); found {
		options = append(options, gomail.WithTLSPolicy(gomail.TLSMandatory),
			gomail.WithSMTPAuth(gomail.SMTPAuthAutoDiscover), gomail.WithUsername(user), gomail.WithPassword(password))
	}
	if number == 465 {
		options = append(options, gomail.WithSSL())
	}
	return gomail.NewClient(host, options...)
}
