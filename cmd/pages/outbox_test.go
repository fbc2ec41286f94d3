package main

import (
	"bytes"
	"io"
	"mime"
	"net/mail"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/toolapi/service"
)

// TestOutbox writes messages that a mail program reads (RFC 5322, RFC 2047), whatever the page is called.
func TestOutbox(t *testing.T) {
	for _, m := range []service.Mail{
		{To: "ada@acme.example", Subject: "Sign in to Shop", Text: "Follow it:\n\nhttp://shop.localhost/\n"},
		{To: "o'hara(x)@acme.example", Subject: "Sign in to Caf\u00e9 " + strings.Repeat("\u65e5\u672c\u8a9e ", 40), Text: "Follow it, caf\u00e9:\n\nhttp://shop.localhost/\n"},
	} {
		c := &cli{env: env{now: time.Now, stdout: io.Discard, stderr: io.Discard}}
		dir := t.TempDir()
		if err := c.mail(&platformData{dir: dir})(t.Context(), m); err != nil {
			t.Fatal(err)
		}
		found, err := filepath.Glob(filepath.Join(dir, "outbox", "*.eml"))
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
	}
}
