package main

import (
	"context"
	"fmt"
	"mime"
	"net/mail"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/pages-toolchain/pages/toolapi/service"
)

// mail puts a message into the outbox: a file for a mail program, and a line for who
// looks on.
func (c *cli) mail(data *platformData) func(context.Context, service.Mail) error {
	return func(_ context.Context, m service.Mail) error {
		dir := filepath.Join(data.dir, "outbox")
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		now := c.now().UTC()
		name := filepath.Join(dir, now.Format("20060102T150405.000000000Z")+".eml")
		// Each encoded word gets a line of its own: lines that hold one have a bound.
		subject := strings.ReplaceAll("Subject: "+mime.QEncoding.Encode("utf-8", m.Subject), " =?", "\r\n =?")
		text := fmt.Sprintf("Date: %s\r\nTo: %s\r\n%s\r\nMIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n\r\n%s",
			now.Format(time.RFC1123Z), (&mail.Address{Address: m.To}).String(), subject, strings.ReplaceAll(m.Text, "\n", "\r\n"))
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			return err
		}
		c.progress("mail to %s: %s", m.To, linkOf(m.Text))
		return nil
	}
}

// linkOf is the address in a message, or its first line.
func linkOf(text string) string {
	first, _, _ := strings.Cut(text, "\n")
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "http://") || strings.HasPrefix(line, "https://") {
			return line
		}
	}
	return first
}
