package leadmail_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"mime/quotedprintable"
	"net/mail"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/cmd/internal/leadmail"
	"github.com/pages-toolchain/pages/cmd/internal/leadmail/smtptest"
)

func lead(fields string) leadmail.Lead {
	return leadmail.Lead{
		ID: "lead_x", To: "owner@acme.test", Site: "Shop", Hostname: "shop.localhost", Form: "contact", Fields: json.RawMessage(fields),
		CreatedAt: time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC), QueuedAt: time.Date(2026, 11, 30, 9, 0, 1, 0, time.UTC),
	}
}

func compose(t *testing.T, l leadmail.Lead) leadmail.Mail {
	t.Helper()
	m, err := leadmail.Compose(l)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func parse(t *testing.T, address string) leadmail.Server {
	t.Helper()
	server, err := leadmail.ParseServer(address, "", "Pages <pages@acme.test>")
	if err != nil {
		t.Fatal(err)
	}
	return server
}

// TestSend sends mails to a real server: the texts arrive unchanged, a second attempt has the same Message-ID, and a permanent refusal
// differs from a temporary one.
func TestSend(t *testing.T) {
	smtp := smtptest.New(t, smtptest.Options{Data: []string{"451 busy", "250 taken", "550 no such mailbox"}})
	server := parse(t, smtp.URL())
	m := compose(t, lead(`{"email":"kim@example.test","message":"Hello.\n.\nBye","é":["1","2"],`+
		`"cv":{"filename":"cv.pdf","size":12,"sha256":"0a"},"n":null}`))
	for i, permanent := range []bool{false, false, true} {
		err := server.Send(t.Context(), m)
		_, ok := errors.AsType[*leadmail.PermanentError](err)
		if (err == nil) != (i == 1) || ok != permanent {
			t.Errorf("attempt %d: %v", i, err)
		}
	}
	mails := smtp.Mails()
	if len(mails) != 3 {
		t.Fatalf("%d mails", len(mails))
	}
	for _, text := range mails {
		h, body := read(t, text)
		if h.Get("Message-Id") != "<"+m.MessageID+">" || h.Get("To") != "<owner@acme.test>" || h.Get("Reply-To") != "<kim@example.test>" ||
			h.Get("From") != `"Pages" <pages@acme.test>` || h.Get("Date") != "Mon, 30 Nov 2026 09:00:01 +0000" ||
			h.Get("Auto-Submitted") != "auto-generated" || h.Get("Subject") != "New lead from Shop: contact" {
			t.Errorf("headers: %v", h)
		}
		if body != m.Text || !strings.Contains(body,
			"message: Hello.\n  .\n  Bye\né: 1, 2\ncv: cv.pdf (a file of 12 bytes, in the lead)\nn: \n") {
			t.Errorf("text: %s", body)
		}
	}
	smtp.Close()
	if err := server.Send(t.Context(), m); err == nil {
		t.Error("a server that is not there takes a mail")
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := server.Send(gone, m); err == nil {
		t.Error("a mail is sent after the end")
	}
}

// read reads a mail as a mail program does.
func read(t *testing.T, text string) (mail.Header, string) {
	t.Helper()
	m, err := mail.ReadMessage(strings.NewReader(text))
	if err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	body, err := io.ReadAll(quotedprintable.NewReader(m.Body))
	if err != nil || m.Header.Get("Content-Transfer-Encoding") != "quoted-printable" {
		t.Fatalf("%v in %s", err, text)
	}
	return m.Header, strings.ReplaceAll(string(body), "\r\n", "\n")
}

// TestHeaders: the names of a site or a form and the text of a visitor cannot make a header, end the mail, or be decoded.
func TestHeaders(t *testing.T) {
	want := []string{
		"Auto-Submitted", "Content-Transfer-Encoding", "Content-Type", "Date", "From", "Message-Id", "Mime-Version", "Subject", "To",
	}
	smtp := smtptest.New(t, smtptest.Options{})
	server := parse(t, smtp.URL())
	hostile := []string{
		"a\r\nBcc: x@evil.test", "a\nBcc: x@evil.test\n\nbody", "a\rBcc: x@evil.test", "a\r\n.\r\nMAIL FROM:<x@evil.test>\r\n",
		"a\u0000b\u001b[1m",
		"=?utf-8?q?=0D=0ABcc:_x@evil.test?=", "=?utf-8?b?RGFuZ2VyDQpCY2M6IHhAZXZpbC50ZXN0?=", "a\u2028Bcc: x@evil.test", "a\u202e\u200bb",
		"Café\r\nBcc: x@evil.test", "\xff\xfe", strings.Repeat("a\r\nBcc: x@evil.test", 50), strings.Repeat("日本語 ", 100),
		"<x@evil.test>", "a, b: c; \"d\" (e)",
	}
	for i, text := range hostile {
		field, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		l := lead(fmt.Sprintf(`{"email":%s,%s:%s,"_replyto":%[1]s}`, field, field, field))
		l.Site, l.Form, l.Hostname = text, text, text
		m := compose(t, l)
		if err := server.Send(t.Context(), m); err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		got := smtp.Mails()
		if len(got) != i+1 {
			t.Fatalf("%q: %d mails", text, len(got))
		}
		h, _ := read(t, got[i])
		if names := slices.Sorted(maps.Keys(h)); !slices.Equal(names, want) {
			t.Errorf("%q makes the headers %q", text, names)
		}
		subject, err := new(mime.WordDecoder).DecodeHeader(h.Get("Subject"))
		if err != nil || subject != m.Subject || strings.ContainsAny(subject, "\r\n\u0000\u001b\u202e") {
			t.Errorf("%q makes the subject %q: %v", text, subject, err)
		}
		if id := h.Get("Message-Id"); id != "<"+m.ID+"@pages.localhost>" {
			t.Errorf("%q makes the id %q", text, id)
		}
		for name, values := range h {
			if len(values) != 1 {
				t.Errorf("%q: %s: %q", text, name, values)
			}
		}
	}
	for _, to := range []string{"a@b.test\r\nBcc: c@d.test", "a@b.test, c@d.test", "a", "", "a@b.test>\r\nRCPT TO:<c@d.test"} {
		l := lead(`{}`)
		l.To = to
		if err := server.Send(t.Context(), compose(t, l)); err == nil {
			t.Errorf("a mail goes to %q", to)
		}
	}
	if n := len(smtp.Mails()); n != len(hostile) {
		t.Errorf("%d mails, want %d", n, len(hostile))
	}
}

// TestServers: the reply of a server to a mail counts, not the end of the connection after it; a refusal of the sender is not permanent.
func TestServers(t *testing.T) {
	for name, c := range map[string]struct {
		options         smtptest.Options
		sent, permanent bool
	}{
		"hangs up after the mail": {smtptest.Options{HangUp: true}, true, false},
		"refuses RSET":            {smtptest.Options{Answers: map[string]string{"RSET": "502 not here"}}, true, false},
		"refuses QUIT":            {smtptest.Options{Answers: map[string]string{"QUIT": "500 no"}}, true, false},
		"hangs up on a refusal":   {smtptest.Options{HangUp: true, Data: []string{"554 no"}}, false, true},
		"refuses the member":      {smtptest.Options{Answers: map[string]string{"RCPT": "550 no such user"}}, false, true},
		"has a full mailbox":      {smtptest.Options{Answers: map[string]string{"RCPT": "452 full"}}, false, false},
		"refuses the sender":      {smtptest.Options{Answers: map[string]string{"MAIL": "550 not you"}}, false, false},
		"greets no one":           {smtptest.Options{Answers: map[string]string{"EHLO": "550 no", "HELO": "550 no"}}, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			err := parse(t, smtptest.New(t, c.options).URL()).Send(t.Context(), compose(t, lead(`{}`)))
			_, permanent := errors.AsType[*leadmail.PermanentError](err)
			if (err == nil) != c.sent || permanent != c.permanent {
				t.Errorf("permanent %t: %v", permanent, err)
			}
		})
	}
}

func TestReplyTo(t *testing.T) {
	for value, want := range map[string]string{
		`"kim@example.test"`: "kim@example.test", `" kim@example.test "`: "kim@example.test", `"Kim <kim@example.test>"`: "",
		`"a@b.test, c@d.test"`: "", `"a@b.test\r\nBcc: c@d.test"`: "", `"\"a b\"@c.test"`: "", `"a"`: "", `["a@b.test","c@d.test"]`: "",
		`"a@` + strings.Repeat("b", 300) + `.test"`: "", `"ä@b.test"`: "", `null`: "", `"a@b.test\u0000"`: "",
	} {
		t.Run(value, func(t *testing.T) {
			if m := compose(t, lead(`{"name":"x","Email":`+value+`}`)); m.ReplyTo != want {
				t.Errorf("%q, want %q", m.ReplyTo, want)
			}
		})
	}
}

// TestBounds: no lead makes a long mail, and two mails on one lead have one id for each member.
func TestBounds(t *testing.T) {
	var fields strings.Builder
	for i := range 100 {
		fmt.Fprintf(&fields, `"%d%s":"%s",`, i, strings.Repeat("n", 16000), strings.Repeat("ü", 60_000))
	}
	l := lead("{" + strings.TrimSuffix(fields.String(), ",") + "}")
	l.Site = strings.Repeat("long ", 1000)
	m := compose(t, l)
	if len(m.Text) > 80<<10 || len(m.Subject) > 1000 || strings.ContainsAny(m.Subject, "\r\n") || !strings.Contains(m.Text, "lead_x") {
		t.Errorf("%d bytes of text, %d of a subject", len(m.Text), len(m.Subject))
	}
	other := l
	other.To = "second@acme.test"
	if compose(t, l).MessageID != m.MessageID || compose(t, other).MessageID == m.MessageID {
		t.Error("ids of mails")
	}
}

func TestParseServer(t *testing.T) {
	for text, good := range map[string]bool{
		"smtp://mail.acme.test": true, "smtps://user@mail.acme.test": true, "smtp://127.0.0.1:2525": true, "http://a": false,
		"smtp://":      false,
		"smtp://u:p@a": false, "smtp://a:0": false, "smtp://a/path": false, "smtp://a?x=1": false, "mail.acme.test": false, "": false,
	} {
		t.Run(text, func(t *testing.T) {
			if s, err := leadmail.ParseServer(text, "secret", "pages@acme.test"); (err == nil) != good {
				t.Errorf("%+v, %v", s, err)
			}
		})
	}
	for _, from := range []string{"", "sender", "a@b.test\r\nBcc: c@d.test", "a@b.test, c@d.test"} {
		if _, err := leadmail.ParseServer("smtp://a", "", from); err == nil {
			t.Errorf("the sender %q", from)
		}
	}
}
