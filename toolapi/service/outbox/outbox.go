// Package outbox keeps the mails of the service in a folder, for who may read the files of this machine: one file a
// message, as mail programs read them (RFC 5322, RFC 2047), which its owner alone can open.
//
// A message stays for [Life], and is cleared away when the next one comes. What else lies in the folder is left as it
// is. All functions may be called concurrently, by several processes. Errors are those of the file system.
package outbox

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"net/mail"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Life is how long a message stays. The link in it is good for minutes; a mail program that looks once a day finds it
// all the same.
const Life = 24 * time.Hour

// Message is a mail in plain text.
type Message struct {
	At                time.Time
	To, Subject, Text string
}

const (
	extension = ".eml"
	// fileName is when a message was written.
	fileName = "20060102T150405.000000000Z"
	// longest is what is read of a file: who may write there may have put anything there.
	longest = 64 << 10
)

// Put writes a message, and then clears those away that are older than Life. The folder is made when it is missing.
func Put(dir string, m Message) (cleared, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	at := m.At.UTC()
	// Each encoded word gets a line of its own: lines that hold one have a bound.
	subject := strings.ReplaceAll("Subject: "+mime.QEncoding.Encode("utf-8", m.Subject), " =?", "\r\n =?")
	text := fmt.Sprintf("Date: %s\r\nTo: %s\r\n%s\r\nMIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\n"+
		"Content-Transfer-Encoding: 8bit\r\n\r\n%s",
		at.Format(time.RFC1123Z), (&mail.Address{Address: m.To}).String(), subject, strings.ReplaceAll(m.Text, "\n", "\r\n"))
	if err := os.WriteFile(filepath.Join(dir, at.Format(fileName)+extension), []byte(text), 0o600); err != nil {
		return nil, err
	}
	return clearAway(dir, at.Add(-Life)), nil
}

// clearAway removes the messages of before a time.
func clearAway(dir string, before time.Time) error {
	ours, err := messages(dir)
	for name, at := range ours {
		if at.Before(before) {
			if gone := os.Remove(filepath.Join(dir, name)); !errors.Is(gone, fs.ErrNotExist) { // a mail program's, meanwhile
				err = errors.Join(err, gone)
			}
		}
	}
	return err
}

// messages are the files of ours, and when each was written.
func messages(dir string) (map[string]time.Time, error) {
	all := map[string]time.Time{}
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		name, ours := strings.CutSuffix(e.Name(), extension)
		if at, parsed := time.Parse(fileName, name); ours && parsed == nil && e.Type().IsRegular() {
			all[e.Name()] = at
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return all, err
}

// List are the messages, the newest first; none when there is no folder.
func List(dir string) ([]Message, error) {
	ours, err := messages(dir)
	all := []Message{}
	for name, at := range ours {
		m, failed := read(filepath.Join(dir, name))
		switch {
		case errors.Is(failed, fs.ErrNotExist): // cleared away meanwhile
		case failed != nil:
			err = errors.Join(err, fmt.Errorf("read %s: %w", name, failed))
		default:
			m.At = at
			all = append(all, m)
		}
	}
	slices.SortFunc(all, func(a, b Message) int { return b.At.Compare(a.At) })
	return all, err
}

func read(name string) (m Message, err error) {
	f, err := os.Open(name)
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	message, err := mail.ReadMessage(io.LimitReader(f, longest))
	if err != nil {
		return m, err
	}
	to, err := message.Header.AddressList("To")
	if err != nil {
		return m, err
	}
	m.To = to[0].Address
	if m.Subject, err = new(mime.WordDecoder).DecodeHeader(message.Header.Get("Subject")); err != nil {
		return m, err
	}
	text, err := io.ReadAll(message.Body)
	m.Text = strings.ReplaceAll(string(text), "\r\n", "\n")
	return m, err
}
