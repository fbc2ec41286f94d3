package service

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/pages-toolchain/pages/toolapi"
)

// This file replaces the plain text of net/http's own refusals with the service's envelope and headers (platform document,
// sections 4.1 and 9).

// Listener returns l with connections that replace net/http's refusals with the service's. The server also
// needs [ConnContext].
func (s *Service) Listener(l net.Listener) net.Listener { return &wireListener{l, s} }

// ConnContext is the ConnContext of a server on a [Service.Listener].
func ConnContext(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, wireKey{}, c)
}

type wireKey struct{}

type wireListener struct {
	net.Listener
	service *Service
}

// Accept implements net.Listener.
func (l *wireListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if tcp, ok := c.(*net.TCPConn); ok && err == nil {
		return &wire{TCPConn: tcp, service: l.service}, nil
	}
	return c, err
}

// wire is a connection. It leaves everything else to TCP, which can send files without reading them.
type wire struct {
	*net.TCPConn
	service *Service
	// foreign is set after a published page has responded on it: its bytes are arbitrary.
	foreign atomic.Bool
}

// passThrough stops the replacement on the connection of a request.
func passThrough(r *http.Request) {
	if w, ok := r.Context().Value(wireKey{}).(*wire); ok {
		w.foreign.Store(true)
	}
}

// refusedByServer matches a response of net/http that refuses a request: in one piece, and without the service's headers.
var refusedByServer = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(
		`\AHTTP/1\.1 ([45]\d\d) [^\r\n]*\r\n(?:Content-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n[^\r\n]*|` +
			`Connection: close\r\nDate: [^\r\n]*\r\nContent-Length: 0\r\n\r\n)\z`,
	)
})

const maxRefusal = 512 // bytes

// Write implements net.Conn.
func (w *wire) Write(b []byte) (int, error) {
	if len(b) > maxRefusal || !bytes.HasPrefix(b, []byte("HTTP/1.1 ")) || w.foreign.Load() {
		return w.TCPConn.Write(b)
	}
	found := refusedByServer().FindSubmatch(b)
	if found == nil {
		return w.TCPConn.Write(b)
	}
	status, err := strconv.Atoi(string(found[1]))
	if err != nil {
		return 0, err
	}
	if err := w.service.refuseUnread(w.TCPConn, status); err != nil {
		return 0, err
	}
	return len(b), nil
}

// refuseUnread writes the response for a request that net/http refused with a status.
func (s *Service) refuseUnread(c net.Conn, status int) error {
	code, message := toolapi.CodeMalformedRequest, "The request line or a header is not valid HTTP/1.1."
	switch status {
	case http.StatusExpectationFailed:
		code, message = toolapi.CodeExpectation, "The only supported expectation is 100-continue."
	case http.StatusRequestHeaderFieldsTooLarge:
		code, message = toolapi.CodeHeadersTooLarge, "The headers of the request are too long."
	case http.StatusNotImplemented:
		code, message = toolapi.CodeTransferCoding, "The only supported transfer coding is chunked."
	case http.StatusHTTPVersionNotSupported:
		code, message = toolapi.CodeVersion, "This service speaks HTTP/1.1."
	}
	refused := toolapi.NewError(code, message)
	body, err := json.Marshal(refused)
	if err != nil {
		return err
	}
	body = append(body, '\n')
	id := uuid()
	h := http.Header{"Connection": {"close"}, "Content-Type": {"application/json"}, "Content-Length": {strconv.Itoa(len(body))}}
	setCommonHeaders(h, id)
	toolapi.Deprecate(h, toolapi.NestedError)
	status = toolapi.Status(refused.Code)
	s.metrics.count("", status, refused.Code, 0)
	s.log.Info("request", "request", id, "status", status, "code", refused.Code)
	var text bytes.Buffer
	fmt.Fprintf(&text, "HTTP/1.1 %d %s\r\n", status, http.StatusText(status))
	if err := h.Write(&text); err != nil {
		return err
	}
	text.WriteString("\r\n")
	text.Write(body)
	_, err = c.Write(text.Bytes())
	return err
}
