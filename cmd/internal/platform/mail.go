package platform

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/leadmail"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/toolapi/service"
	"github.com/pages-toolchain/pages/toolapi/service/outbox"
)

func outboxDir(data string) string { return filepath.Join(data, "outbox") }

// MailList is the document of `pages platform mail --json`.
type MailList struct {
	Mails []Mail `json:"mails"` // the newest first
}

// Mail is a message in the outbox.
type Mail struct {
	At      time.Time `json:"at"`
	To      string    `json:"to"`
	Subject string    `json:"subject"`
	Text    string    `json:"text"`
}

// Mails lists the outbox of a data folder: the mails to an address, or all for "".
func Mails(dir, to string) (MailList, error) {
	list := MailList{Mails: []Mail{}}
	found, err := outbox.List(outboxDir(dir))
	if err != nil {
		return list, failure.Resource("outbox-unreadable", fmt.Sprintf("the outbox of %s cannot be read", wording.QuotePath(dir)),
			"make the folder readable, and move all files but mails out of it", err)
	}
	for _, m := range found {
		if to == "" || strings.EqualFold(to, m.To) {
			list.Mails = append(list.Mails, Mail(m))
		}
	}
	return list, nil
}

// sendMail returns the function that puts a service's messages into its outbox. The log mentions the message without its text, which may
// hold a sign-in link.
func (o Options) sendMail(f Folder) func(context.Context, service.Mail) error {
	return func(_ context.Context, m service.Mail) error {
		return o.putMail(f, "", outbox.Message{At: o.Now(), To: m.To, Subject: m.Subject, Text: m.Text})
	}
}

// putMail puts a message into the outbox. A message with an id is put there once.
func (o Options) putMail(f Folder, id string, m outbox.Message) error {
	failed, err := outbox.PutOnce(outboxDir(f.Dir), id, m)
	if err != nil {
		return err
	}
	if failed != nil {
		o.Warn("the outbox could not be cleared: %v", failed)
	}
	o.Progress("mail to %s is in the outbox: pages platform mail --data %s shows it", maskedEmail(m.To), wording.QuotePath(f.Dir))
	return nil
}

// sendLeadMail returns the function that hands mails on leads to the mail server; without one, it puts them into the outbox.
func (o Options) sendLeadMail(f Folder) func(context.Context, service.LeadMail) error {
	return func(ctx context.Context, l service.LeadMail) error {
		m, err := leadmail.Compose(leadmail.Lead{
			ID: l.LeadID, To: l.To, Site: l.Site, Hostname: l.Hostname, Form: l.Form, Fields: l.Fields, CreatedAt: l.CreatedAt,
			QueuedAt: l.QueuedAt,
		})
		if err != nil {
			return &service.PermanentMailError{Reason: err}
		}
		if o.SMTP == nil {
			return o.putMail(f, m.ID, outbox.Message{At: m.At, To: m.To, Subject: m.Subject, Text: m.Text})
		}
		err = o.SMTP.Send(ctx, m)
		if _, permanent := errors.AsType[*leadmail.PermanentError](err); permanent {
			return &service.PermanentMailError{Reason: err}
		}
		return err
	}
}

// maskedEmail shortens an email, so that only people who know it recognize it.
func maskedEmail(email string) string {
	at := strings.LastIndexByte(email, '@')
	_, first := utf8.DecodeRuneInString(email)
	if at < first {
		return "…"
	}
	return email[:first] + "…" + email[at:]
}
