package leadmail_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/mail"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/cmd/internal/leadmail"
)

// smtpServer takes mails on this machine. answers are what it says to the end of each mail; then 250.
type smtpServer struct {
	net.Listener

	mu      sync.Mutex
	answers []string
	mails   []string
}

func newSMTPServer(t *testing.T, answers ...string) *smtpServer {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &smtpServer{Listener: l, answers: answers}
	var served sync.WaitGroup
	served.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			served.Go(func() { s.serve(conn) })
		}
	})
	t.Cleanup(func() { l.Close(); served.Wait() })
	return s
}

// serve speaks RFC 5321 as far as a client needs it to hand over a mail.
func (s *smtpServer) serve(conn net.Conn) {
	defer conn.Close()
	lines := bufio.NewScanner(conn)
	fmt.Fprint(conn, "220 test\r\n")
	for lines.Scan() {
		switch verb, _, _ := strings.Cut(strings.ToUpper(lines.Text()), " "); verb {
		case "EHLO":
			fmt.Fprint(conn, "250-test\r\n250 8BITMIME\r\n")
		case "DATA":
			fmt.Fprint(conn, "354 go on\r\n")
			var text strings.Builder
			for lines.Scan() && lines.Text() != "." {
				text.WriteString(strings.TrimPrefix(lines.Text(), ".") + "\r\n")
			}
			fmt.Fprintf(conn, "%s\r\n", s.take(text.String()))
		case "QUIT":
			fmt.Fprint(conn, "221 bye\r\n")
			return
		default:
			fmt.Fprint(conn, "250 ok\r\n")
		}
	}
}

func (s *smtpServer) take(text string) (answer string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mails = append(s.mails, text)
	if len(s.answers) == 0 {
		return "250 taken"
	}
	answer, s.answers = s.answers[0], s.answers[1:]
	return answer
}

func (s *smtpServer) address() string { return "smtp://" + s.Addr().String() }

func lead(fields string) leadmail.Lead {
	return leadmail.Lead{
		ID: "lead_x", To: "owner@acme.test", Site: "Shop", Hostname: "shop.localhost", Form: "contact", Fields: json.RawMessage(fields),
		CreatedAt: time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC),
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

// TestSend hands mails to a real server: it reads what was meant, a second attempt has the same Message-ID, and a refusal for good
// is told from one for now.
func TestSend(t *testing.T) {
	hostile := lead(`{"email":"kim@example.test","na\nme\r\nBcc: x@evil.test":"a\r\n.\r\nQUIT\r\nBcc: y@evil.test\u0000","é":["1","2"]}`)
	hostile.Site = "Café\r\nBcc: z@evil.test"
	smtp := newSMTPServer(t, "451 busy", "250 taken", "550 no such mailbox")
	server, err := leadmail.ParseServer(smtp.address(), "", "Pages <pages@acme.test>")
	if err != nil {
		t.Fatal(err)
	}
	m := compose(t, hostile)
	for i, permanent := range []bool{false, false, true} {
		err := server.Send(t.Context(), m)
		_, ok := errors.AsType[*leadmail.PermanentError](err)
		if (err == nil) != (i == 1) || ok != permanent {
			t.Errorf("attempt %d: %v", i, err)
		}
	}
	if len(smtp.mails) != 3 {
		t.Fatalf("%d mails", len(smtp.mails))
	}
	for _, text := range smtp.mails {
		read, err := mail.ReadMessage(strings.NewReader(text))
		if err != nil {
			t.Fatalf("%v in %s", err, text)
		}
		h := read.Header
		if h.Get("Bcc") != "" || h.Get("Message-Id") != "<"+m.MessageID+">" || h.Get("To") != "<owner@acme.test>" ||
			h.Get("Reply-To") != "<kim@example.test>" || !strings.Contains(h.Get("From"), "<pages@acme.test>") {
			t.Errorf("headers: %v", h)
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
		"smtp://mail.acme.test": true, "smtps://user@mail.acme.test": true, "smtp://127.0.0.1:2525": true, "http://a": false, "smtp://": false,
		"smtp://u:p@a": false, "smtp://a:0": false, "smtp://a/path": false, "smtp://a?x=1": false, "mail.acme.test": false, "": false,
	} {
		t.Run(text, func(t *testing.T) {
			if s, err := leadmail.ParseServer(text, "secret", "pages@acme.test"); (err == nil) != good {
				t.Errorf("%+v, %v", s, err)
			}
		})
	}
	for _, from := range []string{"", "nobody", "a@b.test\r\nBcc: c@d.test", "a@b.test, c@d.test"} {
		if _, err := leadmail.ParseServer("smtp://a", "", from); err == nil {
			t.Errorf("the sender %q", from)
		}
	}
}
