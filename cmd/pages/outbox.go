package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"mime"
	"net/mail"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/pages-toolchain/pages/toolapi/service"
)

// mailLife is how long a message stays in the outbox, which is cleared when the next one comes.
// The link in it is good for minutes; a mail program that looks once a day finds it all the same.
const mailLife = 24 * time.Hour

// mailName is when a message was written, as the name of its file.
const mailName = "20060102T150405.000000000Z"

// mail puts a message into the outbox: a file for a mail program, and a line for who
// looks on.
func (c *cli) mail(data *platformData) func(context.Context, service.Mail) error {
	return func(_ context.Context, m service.Mail) error {
		dir := filepath.Join(data.dir, "outbox")
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		now := c.now().UTC()
		name := filepath.Join(dir, now.Format(mailName)+".eml")
		// Each encoded word gets a line of its own: lines that hold one have a bound.
		subject := strings.ReplaceAll("Subject: "+mime.QEncoding.Encode("utf-8", m.Subject), " =?", "\r\n =?")
		text := fmt.Sprintf("Date: %s\r\nTo: %s\r\n%s\r\nMIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n\r\n%s",
			now.Format(time.RFC1123Z), (&mail.Address{Address: m.To}).String(), subject, strings.ReplaceAll(m.Text, "\n", "\r\n"))
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			return err
		}
		if err := clearOutbox(dir, now.Add(-mailLife)); err != nil {
			c.warn("the outbox could not be cleared: %v", err)
		}
		c.progress("mail to %s: %s", m.To, linkOf(m.Text))
		return nil
	}
}

// clearOutbox removes the messages of before a time. What else lies there is not ours.
func clearOutbox(dir string, before time.Time) error {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		name, ours := strings.CutSuffix(e.Name(), ".eml")
		if at, parsed := time.Parse(mailName, name); ours && parsed == nil && at.Before(before) {
			if gone := os.Remove(filepath.Join(dir, e.Name())); !errors.Is(gone, fs.ErrNotExist) { // a mail program's, meanwhile
				err = errors.Join(err, gone)
			}
		}
	}
	return err
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
