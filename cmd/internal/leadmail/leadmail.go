// Package leadmail writes the mails that members get on leads, and hands them to a server by SMTP.
//
// Input: a [Lead]. Output: a [Mail], always the same for the same lead: a mail that is sent twice has one Message-ID, so that mail programs
// show it once. A visitor's text is hostile: it goes only into the mail's text, within bounds and without control characters. One address
// and nothing else may go into Reply-To.
//
// [Server.Send] returns a *PermanentError for a mail that the server will never take. Everything is safe for concurrent use. The
// package keeps no queue, and tries once.
package leadmail

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/mail"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"

	gomail "github.com/wneessen/go-mail"

	"github.com/pages-toolchain/pages/toolapi"
)

// Lead is the subject of a mail.
type Lead struct {
	ID        string
	To        string // the member
	Site      string // the site's name
	Hostname  string // the site's own, for the Message-ID
	Form      string
	Fields    json.RawMessage // a JSON object
	CreatedAt time.Time
	QueuedAt  time.Time // the date of the mail
}

// Mail is a mail on a lead.
type Mail struct {
	Lead      string    `json:"lead"` // its id
	ID        string    `json:"id"`   // of the mail, in hexadecimal: one for each lead and member
	MessageID string    `json:"message_id"`
	To        string    `json:"to"`
	ReplyTo   string    `json:"reply_to,omitempty"` // the visitor's address, if the lead has one
	Subject   string    `json:"subject"`
	Text      string    `json:"text"`
	At        time.Time `json:"at"`
}

// Bounds of a mail.
const (
	maxAnswers = 100
	maxAnswer  = 2000 // characters
	maxName    = 100
	maxText    = 24 << 10 // bytes
	maxAddress = 254
)

// Compose writes the mail on a lead.
func Compose(l Lead) (Mail, error) {
	answers, err := toolapi.Answers(l.Fields)
	if err != nil {
		return Mail{}, err
	}
	hash := sha256.Sum256([]byte(l.ID + "\x00" + strings.ToLower(l.To)))
	id := hex.EncodeToString(hash[:16])
	m := Mail{
		Lead: l.ID, ID: id, MessageID: id + "@" + hostOf(l.Hostname), To: l.To, ReplyTo: replyTo(answers),
		Subject: subject("New lead from " + l.Site + ": " + l.Form), At: l.QueuedAt,
	}
	var text strings.Builder
	fmt.Fprintf(&text, "A visitor of %s sent the form %q.\n\n", cut(line(l.Site), maxName), l.Form)
	for i, a := range answers {
		entry := fmt.Sprintf("%s: %s\n", cut(line(a.Name), maxName), indent(cut(plain(textOf(a.Value)), maxAnswer)))
		if i == maxAnswers || text.Len()+len(entry) > maxText {
			text.WriteString("… The lead has the rest.\n")
			break
		}
		text.WriteString(entry)
	}
	fmt.Fprintf(&text, "\nLead %s, %s UTC\n", l.ID, l.CreatedAt.UTC().Format("2006-01-02 15:04:05"))
	m.Text = text.String()
	return m, nil
}

// textOf returns an answer as text: the names and sizes of files, and lists with commas.
func textOf(value json.RawMessage) string {
	var text string
	if json.Unmarshal(value, &text) == nil {
		return text
	}
	var list []json.RawMessage
	if json.Unmarshal(value, &list) == nil {
		var parts []string
		for _, one := range list {
			parts = append(parts, textOf(one))
		}
		return strings.Join(parts, ", ")
	}
	var file struct {
		Name *string `json:"filename"`
		Size int64   `json:"size"`
	}
	if json.Unmarshal(value, &file) == nil && file.Name != nil {
		return fmt.Sprintf("%s (a file of %d bytes, in the lead)", *file.Name, file.Size)
	}
	return string(value)
}

// replyFields are the usual names of fields for a visitor's address, in lower case.
var replyFields = map[string]bool{"email": true, "e-mail": true, "your-email": true, "your_email": true, "mail": true, "_replyto": true}

var addressPattern = regexp.MustCompile(`^[A-Za-z0-9.!#$%&'*+/=?^_{|}~-]+@[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?$`)

// replyTo returns the visitor's address from the first field with such a name: one address without a name, quotes or anything else.
func replyTo(answers []toolapi.Answer) string {
	for _, a := range answers {
		if !replyFields[strings.ToLower(a.Name)] {
			continue
		}
		text := strings.TrimSpace(textOf(a.Value))
		parsed, err := mail.ParseAddress(text)
		if err != nil || parsed.Name != "" || parsed.Address != text || len(text) > maxAddress || !addressPattern.MatchString(text) {
			return ""
		}
		return text
	}
	return ""
}

var hostPattern = regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$`)

// hostOf is the host of a Message-ID.
func hostOf(name string) string {
	if !hostPattern.MatchString(name) {
		return "pages.localhost"
	}
	return name
}

// subject is a text for a header: on one line, within bounds, and without the beginning of an encoded word, which mail programs
// would decode (RFC 2047).
func subject(text string) string {
	return strings.ReplaceAll(cut(line(text), 2*maxName), "=?", "= ?")
}

// line returns a text on one line.
func line(text string) string { return strings.Join(strings.Fields(plain(text)), " ") }

// plain removes control and format characters, but line feeds and tabs.
func plain(text string) string {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\r\n", "\n")
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029') {
			return -1
		}
		return r
	}, text)
}

func cut(text string, most int) string {
	n := 0
	for i := range text {
		if n == most {
			return text[:i] + "…"
		}
		n++
	}
	return text
}

// indent moves the later lines of an answer to the right, apart from the next answer.
func indent(text string) string {
	return strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n  ")
}

// Server is the mail server that takes the mails.
type Server struct {
	Host     string
	Port     int
	TLS      bool   // from the start: smtps
	User     string // "" for none
	Password string
	From     string // the sender of every mail
}

// sendTime bounds one attempt.
const sendTime = 30 * time.Second

var errServer = errors.New("a mail server is smtp://[USER@]HOST[:PORT] or smtps://[USER@]HOST[:PORT], without a password")

// ParseServer parses the address of a mail server, smtp://[USER@]HOST[:PORT] or smtps, and the address of the sender.
func ParseServer(text, password, from string) (Server, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "smtp" && u.Scheme != "smtps" || u.Hostname() == "" {
		return Server{}, errServer
	}
	if _, given := u.User.Password(); given || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" {
		return Server{}, errServer
	}
	s := Server{Host: u.Hostname(), TLS: u.Scheme == "smtps", User: u.User.Username(), Password: password, From: from}
	s.Port = map[bool]int{true: 465, false: 587}[s.TLS]
	if text := u.Port(); text != "" {
		if s.Port, err = strconv.Atoi(text); err != nil || s.Port < 1 || s.Port > 65535 {
			return Server{}, errServer
		}
	}
	parsed, err := mail.ParseAddress(from)
	if err != nil || strings.ContainsAny(from, "\r\n") || !addressPattern.MatchString(parsed.Address) {
		return Server{}, fmt.Errorf("the sender %q is not an email address", from)
	}
	return s, nil
}

// PermanentError is the error of a mail that the server will never take.
type PermanentError struct{ Reason error }

func (e *PermanentError) Error() string { return e.Reason.Error() }

// Unwrap returns the reason.
func (e *PermanentError) Unwrap() error { return e.Reason }

// message makes the message of a mail. The library encodes headers, and refuses malformed addresses.
func (s Server) message(m Mail) (*gomail.Msg, error) {
	msg := gomail.NewMsg(gomail.WithNoDefaultUserAgent())
	err := errors.Join(msg.From(s.From), msg.To(m.To))
	if m.ReplyTo != "" {
		err = errors.Join(err, msg.ReplyTo(m.ReplyTo))
	}
	msg.Subject(m.Subject)
	msg.SetMessageIDWithValue(m.MessageID)
	msg.SetDateWithValue(m.At)
	msg.SetGenHeader("Auto-Submitted", "auto-generated") // RFC 3834: no out-of-office replies
	msg.SetBodyString(gomail.TypeTextPlain, m.Text)
	return msg, err
}

// Send hands a mail to the server, once. It returns nil if the server has taken the mail.
func (s Server) Send(ctx context.Context, m Mail) error {
	msg, err := s.message(m)
	if err != nil {
		return &PermanentError{err}
	}
	ctx, cancel := context.WithTimeout(ctx, sendTime)
	defer cancel()
	options := []gomail.Option{gomail.WithPort(s.Port), gomail.WithTimeout(sendTime)}
	switch {
	case s.TLS:
		options = append(options, gomail.WithSSL())
	case s.local():
		options = append(options, gomail.WithTLSPolicy(gomail.NoTLS))
	default:
		options = append(options, gomail.WithTLSPolicy(gomail.TLSMandatory))
	}
	if s.User != "" {
		options = append(options,
			gomail.WithSMTPAuth(gomail.SMTPAuthAutoDiscover), gomail.WithUsername(s.User), gomail.WithPassword(s.Password))
	}
	client, err := gomail.NewClient(s.Host, options...)
	if err != nil {
		return err
	}
	err = client.DialAndSendWithContext(ctx, msg)
	if msg.IsDelivered() {
		return nil // only the end of the connection failed
	}
	if refused, ok := errors.AsType[*gomail.SendError](err); ok && refused.ErrorCode() >= 500 && ofMail(refused.Reason) {
		return &PermanentError{err}
	}
	return err
}

// ofMail reports whether a refusal is about the mail. Other refusals are about the sender or the connection: the operator corrects them.
func ofMail(reason gomail.SendErrReason) bool {
	return reason == gomail.ErrSMTPRcptTo || reason == gomail.ErrSMTPData || reason == gomail.ErrSMTPDataClose
}

// local reports whether the server is on this machine, where TLS protects nothing and certificates are rare.
func (s Server) local() bool {
	ip := net.ParseIP(s.Host)
	return s.Host == "localhost" || ip != nil && ip.IsLoopback()
}
