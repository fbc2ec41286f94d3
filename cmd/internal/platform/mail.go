package platform

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
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
			"make the folder one that you may read, and move away what is no mail there", err)
	}
	for _, m := range found {
		if to == "" || strings.EqualFold(to, m.To) {
			list.Mails = append(list.Mails, Mail(m))
		}
	}
	return list, nil
}

// sendMail returns the function that puts a service's messages into its outbox. The log mentions the message without its
// text, which may hold a link that signs someone in.
func (o Options) sendMail(f Folder) func(context.Context, service.Mail) error {
	return func(_ context.Context, m service.Mail) error {
		failed, err := outbox.Put(outboxDir(f.Dir), outbox.Message{At: o.Now(), To: m.To, Subject: m.Subject, Text: m.Text})
		if err != nil {
			return err
		}
		if failed != nil {
			o.Warn("the outbox could not be cleared: %v", failed)
		}
		o.Progress("mail to %s is in the outbox: pages platform mail --data %s shows it", maskedEmail(m.To), wording.QuotePath(f.Dir))
		return nil
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
