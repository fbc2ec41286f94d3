package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/toolapi/service"
	"github.com/pages-toolchain/pages/toolapi/service/outbox"
)

// outboxOf is where a service's mails lie.
func outboxOf(data string) string { return filepath.Join(data, "outbox") }

// mail puts a message into the outbox. The log says that it is there: what it says, a link that signs someone in
// perhaps, is for who may read the file.
func (c *cli) mail(data *platformData) func(context.Context, service.Mail) error {
	return func(_ context.Context, m service.Mail) error {
		cleared, err := outbox.Put(outboxOf(data.dir), outbox.Message{At: c.term.Now(), To: m.To, Subject: m.Subject, Text: m.Text})
		if err != nil {
			return err
		}
		if cleared != nil {
			c.term.Warn("the outbox could not be cleared: %v", cleared)
		}
		c.term.Progress("mail to %s is in the outbox: pages platform mail --data %s shows it", maskedEmail(m.To), wording.QuotePath(data.dir))
		return nil
	}
}

// maskedEmail names somebody to who knows them.
func maskedEmail(email string) string {
	at := strings.LastIndexByte(email, '@')
	_, first := utf8.DecodeRuneInString(email)
	if at < first {
		return "…"
	}
	return email[:first] + "…" + email[at:]
}

func (c *cli) newPlatformMail(f *platformFlags) *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use:   "mail [EMAIL]",
		Short: "Show the newest mail that the local service sent",
		Long: "Show the newest mail that the local service sent, or the newest to an address, such as\nthe link that signs a member in on a page. The service sends no mail itself: it keeps\neach for a day in the folder outbox of its data, as a file for a mail program.\n\n" +
			"With --json all are listed, the newest first.\n\nExit codes: 0 done, 1 there is none, 2 wrong usage, 9 the data folder cannot be read.",
		Example: "  pages platform mail\n  pages platform mail ana@acme.test --data /srv/pages\n  pages platform mail --json | jq -r '.mails[0].text'",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return c.showMail(c.platformDir(f.data), strings.Join(args, ""), all)
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "show all, the newest first")
	return cmd
}

// mailsDoc is what `pages platform mail --json` prints.
type mailsDoc struct {
	Mails []shownMail `json:"mails"`
}

type shownMail struct {
	At      time.Time `json:"at"`
	To      string    `json:"to"`
	Subject string    `json:"subject"`
	Text    string    `json:"text"`
}

func (c *cli) showMail(dir, to string, all bool) error {
	found, err := outbox.List(outboxOf(dir))
	if err != nil {
		return failure.Resource("outbox-unreadable", fmt.Sprintf("the outbox of %s cannot be read", wording.QuotePath(dir)), "make the folder one that you may read, and move away what is no mail there", err)
	}
	doc := mailsDoc{Mails: []shownMail{}}
	for _, m := range found {
		if to == "" || strings.EqualFold(to, m.To) {
			doc.Mails = append(doc.Mails, shownMail(m))
		}
	}
	if c.term.JSON {
		c.term.PrintJSON(doc)
		return nil
	}
	if len(doc.Mails) == 0 {
		return &failure.Error{Exit: failure.ExitRefused, Code: "no-mail", Message: "there is no mail in the outbox of " + wording.QuotePath(dir), Fix: "name the service's data folder with --data; a page's sign-in form sends one to a member's address"}
	}
	if !all {
		doc.Mails = doc.Mails[:1]
	}
	for i, m := range doc.Mails {
		if i > 0 {
			fmt.Fprintln(c.term.Stdout)
		}
		fmt.Fprintf(c.term.Stdout, "%s  to %s\n%s\n\n", wording.Clock(m.At), wording.Printable(m.To), wording.Printable(m.Subject))
		for line := range strings.Lines(m.Text) {
			fmt.Fprintln(c.term.Stdout, wording.Printable(strings.TrimSuffix(line, "\n")))
		}
	}
	return nil
}
