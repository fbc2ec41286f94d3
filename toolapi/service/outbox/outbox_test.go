package outbox_test

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"net/mail"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/toolapi/service/outbox"
)

// TestOutbox writes messages that a mail program reads (RFC 5322, RFC 2047), whatever the page is called.
func TestOutbox(t *testing.T) {
	for _, m := range []outbox.Message{
		{At: time.Now(), To: "ada@acme.example", Subject: "Sign in to Shop", Text: "Follow it:\n\nhttp://shop.localhost/\n"},
		{
			At: time.Now(), To: "o'hara(x)@acme.example",
			Subject: "Sign in to Caf\u00e9 " + strings.Repeat("\u65e5\u672c\u8a9e ", 40),
			Text:    "Follow it, caf\u00e9:\n\nhttp://shop.localhost/\n",
		},
	} {
		dir := filepath.Join(t.TempDir(), "outbox")
		if cleared, err := outbox.Put(dir, m); cleared != nil || err != nil {
			t.Fatal(cleared, err)
		}
		found, err := filepath.Glob(filepath.Join(dir, "*.eml"))
		if err != nil || len(found) != 1 {
			t.Fatal(found, err)
		}
		text, err := os.ReadFile(found[0])
		if err != nil {
			t.Fatal(err)
		}
		head, _, _ := bytes.Cut(text, []byte("\r\n\r\n"))
		for line := range strings.SplitSeq(string(head), "\r\n") {
			if len(line) > 76 || strings.ContainsFunc(line, func(r rune) bool { return r < ' ' || r > '~' }) {
				t.Errorf("the header line %q", line)
			}
		}
		read, err := mail.ReadMessage(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		subject, err := new(mime.WordDecoder).DecodeHeader(read.Header.Get("Subject"))
		if err != nil || subject != m.Subject {
			t.Errorf("the subject is %q, %v", subject, err)
		}
		if to, err := read.Header.AddressList("To"); err != nil || len(to) != 1 || to[0].Address != m.To {
			t.Errorf("it is to %v, %v", to, err)
		}
		if body, err := io.ReadAll(read.Body); err != nil || strings.ReplaceAll(string(body), "\r\n", "\n") != m.Text {
			t.Errorf("the text is %q, %v", body, err)
		}
		if read.Header.Get("Mime-Version") != "1.0" {
			t.Errorf("without MIME-Version, the character set does not count")
		}
		back, err := outbox.List(dir)
		if err != nil || len(back) != 1 || back[0].To != m.To || back[0].Subject != m.Subject || back[0].Text != m.Text ||
			!back[0].At.Equal(m.At) {
			t.Errorf("it is listed as %+v, %v", back, err)
		}
		if info, err := os.Stat(found[0]); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
			t.Errorf("others may read it: %v, %v", info.Mode(), err)
		}
	}
}

// TestOutboxIsCleared: a message that comes takes those of more than a day before away, and
// nothing else that lies there.
func TestOutboxIsCleared(t *testing.T) {
	now := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	dir := filepath.Join(t.TempDir(), "outbox")
	others := []string{"20200101T000000.000000000Z.eml.sent", "draft.eml", "sent"}
	for _, name := range others {
		if err := errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(filepath.Join(dir, name), nil, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	for _, step := range []struct {
		pass time.Duration
		left string
	}{
		{0, "20261120T090000.000000000Z.eml"},
		{time.Hour, "20261120T090000.000000000Z.eml 20261120T100000.000000000Z.eml"},
		{23*time.Hour + time.Nanosecond, "20261120T100000.000000000Z.eml 20261121T090000.000000001Z.eml"},
		{48 * time.Hour, "20261123T090000.000000001Z.eml"},
	} {
		now = now.Add(step.pass)
		if cleared, err := outbox.Put(dir, outbox.Message{
			At: now, To: "ada@acme.example", Subject: "Sign in", Text: "http://shop.localhost/",
		}); cleared != nil || err != nil {
			t.Fatal(cleared, err)
		}
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		left := []string{}
		for _, e := range entries {
			if !slices.Contains(others, e.Name()) {
				left = append(left, e.Name())
			}
		}
		if got := strings.Join(left, " "); got != step.left || len(entries) != len(left)+len(others) {
			t.Errorf("after %v more there are %q, want %q beside %q", step.pass, got, step.left, others)
		}
	}
}

// TestListWhatThereIs: a folder that is not there holds nothing, the newest message comes first, and foreign files are not shown.
func TestListWhatThereIs(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "outbox")
	if all, err := outbox.List(dir); err != nil || len(all) != 0 {
		t.Errorf("before there is a folder: %v, %v", all, err)
	}
	now := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	for i, text := range []string{"first\n", "second\n"} {
		if cleared, err := outbox.Put(dir, outbox.Message{
			At: now.Add(time.Duration(i) * time.Minute), To: "ada@acme.example", Subject: "Sign in", Text: text,
		}); cleared != nil || err != nil {
			t.Fatal(cleared, err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "draft.eml"), []byte("Subject: mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	all, err := outbox.List(dir)
	if err != nil || len(all) != 2 || all[0].Text != "second\n" || all[1].Text != "first\n" {
		t.Errorf("%+v, %v", all, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "20261120T090500.000000000Z.eml"), []byte("no mail"), 0o600); err != nil {
		t.Fatal(err)
	}
	if all, err := outbox.List(dir); err == nil || len(all) != 2 {
		t.Errorf("with a damaged one: %+v, %v", all, err)
	}
}
