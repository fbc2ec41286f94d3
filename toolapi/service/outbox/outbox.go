// Package outbox keeps the mails of the service in a folder of this machine: one file for each message, in the format of
// mail programs (RFC 5322, RFC 2047), readable only by its owner.
//
// A message stays for [Life]; the next Put after that removes it. It ignores other files of the folder. All functions may
// be called concurrently, by several processes. Errors are those of the file system.
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

	"github.com/pages-toolchain/pages/migrate/dbfile"
)

// Life is the time for which a message stays: enough for a mail program that polls once a day, although links in it are
// valid for minutes.
const Life = 24 * time.Hour

// Message is a mail in plain text.
type Message struct {
	At                time.Time
	To, Subject, Text string
}

const (
	extension = ".eml"
	fileName  = "20060102T150405.000000000Z" // the time of the message
	maxBytes  = 64 << 10                     // that are read of a file: others may write to the folder

	idSeparator = "-"
)

// Put writes a message, and then removes those that are older than Life. It makes the folder when it is missing. cleared is
// the error of the removal. Without another error, the message is on disk.
func Put(dir string, m Message) (cleared, err error) { return PutOnce(dir, "", m) }

// PutOnce is Put for a message with an id, of letters and digits: repeated calls with the same time and id store one message.
func PutOnce(dir, id string, m Message) (cleared, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	at := m.At.UTC()
	// Each encoded word gets its own line, because such lines are limited in length.
	subject := strings.ReplaceAll("Subject: "+mime.QEncoding.Encode("utf-8", m.Subject), " =?", "\r\n =?")
	text := fmt.Sprintf("Date: %s\r\nTo: %s\r\n%s\r\nMIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\n"+
		"Content-Transfer-Encoding: 8bit\r\n\r\n%s",
		at.Format(time.RFC1123Z), (&mail.Address{Address: m.To}).String(), subject, strings.ReplaceAll(m.Text, "\n", "\r\n"))
	name := at.Format(fileName)
	if id != "" {
		name += idSeparator + id
	}
	if err := write(filepath.Join(dir, name+extension), text); err != nil {
		return nil, err
	}
	all, cleared := messages(dir)
	for name, written := range all {
		if written.Before(at.Add(-Life)) {
			if failed := os.Remove(filepath.Join(dir, name)); !errors.Is(failed, fs.ErrNotExist) { // a mail program may have moved it
				cleared = errors.Join(cleared, failed)
			}
		}
	}
	return cleared, nil
}

// write writes a file to disk, whole or not at all.
func write(name, text string) (err error) {
	f, err := os.CreateTemp(filepath.Dir(name), ".mail-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), name); err != nil {
		return err
	}
	return dbfile.SyncFolder(os.Open, filepath.Dir(name))
}

// messages returns the files of messages, and when each was written.
func messages(dir string) (map[string]time.Time, error) {
	all := map[string]time.Time{}
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		name, ours := strings.CutSuffix(e.Name(), extension)
		stamp, _, _ := strings.Cut(name, idSeparator)
		if at, parsed := time.Parse(fileName, stamp); ours && parsed == nil && e.Type().IsRegular() {
			all[e.Name()] = at
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return all, err
}

// List returns the messages, the newest first; none when there is no folder.
func List(dir string) ([]Message, error) {
	files, err := messages(dir)
	all := []Message{}
	for name, at := range files {
		m, failed := read(filepath.Join(dir, name))
		switch {
		case errors.Is(failed, fs.ErrNotExist): // removed meanwhile
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
	message, err := mail.ReadMessage(io.LimitReader(f, maxBytes))
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
