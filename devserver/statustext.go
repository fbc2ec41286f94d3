package devserver

import (
	"bytes"
	"net/http"
	"strconv"
	"sync/atomic"
)

// statusText is the status text of the next response on a connection, if it is not the usual one. net/http cannot write it: the connection
// puts it into the head, which is the beginning of a write.
type statusText struct{ next atomic.Pointer[givenText] }

type givenText struct {
	status int
	text   string
}

// set takes the text that a Worker gave a response. It ignores a text that no status line can have (RFC 9112, section 4).
func (s *statusText) set(status int, text string) {
	if status < http.StatusOK || text == http.StatusText(status) {
		s.next.Store(nil)
		return
	}
	latin := make([]byte, 0, len(text))
	for _, r := range text {
		if r != '\t' && (r < ' ' || r == 0x7f || r > 0xff) {
			return
		}
		latin = append(latin, byte(r))
	}
	s.next.Store(&givenText{status, string(latin)})
}

// put returns the bytes of a write with the text in its status line; nil if they do not begin the response with the text.
func (s *statusText) put(b []byte) []byte {
	given := s.next.Load()
	if given == nil {
		return nil
	}
	const version = len("HTTP/1.1 ")
	status := strconv.Itoa(given.status)
	if len(b) < version || !bytes.HasPrefix(b, []byte("HTTP/1.")) {
		return nil
	}
	line, rest, whole := bytes.Cut(b, []byte("\r\n"))
	code, _, _ := bytes.Cut(line[min(version, len(line)):], []byte(" "))
	if !whole || len(code) != len(status) || code[0] == '1' {
		return nil // an interim response; the text belongs to the one after it
	}
	s.next.Store(nil)
	if string(code) != status {
		return nil
	}
	head := make([]byte, 0, len(b)+len(given.text))
	head = append(append(append(head, b[:version]...), status+" "+given.text+"\r\n"...), rest...)
	return head
}
