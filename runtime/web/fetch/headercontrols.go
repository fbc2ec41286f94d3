package fetch

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/textproto"
	"strings"
	"time"

	"github.com/pages-toolchain/pages/runtime/web/mimetype"
)

// This file handles control characters in the values of headers. net/http refuses them in both
// directions; the Fetch standard forbids only NUL, CR and LF, Workers send and take the rest, and
// RFC 9110, 5.5, lets a recipient keep them. A request or a response that has some goes over a
// connection of HTTP/1.1 of its own.

const (
	maxHead    = 256 << 10 // bytes, as of the transport
	maxInterim = 100       // responses of 1xx before the one that counts
)

func (c *Client) send(r *http.Request) (*http.Response, error) {
	t, ok := c.transport.(*http.Transport)
	ok = ok && t.DialContext != nil
	for _, values := range r.Header {
		for _, value := range values {
			if ok && strings.ContainsFunc(value, isControl) {
				return c.sendAlone(t, r)
			}
		}
	}
	resp, err := c.transport.RoundTrip(r)
	if _, malformed := errors.AsType[textproto.ProtocolError](err); ok && malformed && r.Body == nil &&
		(r.Method == http.MethodGet || r.Method == http.MethodHead) {
		return c.sendAlone(t, r) // asking twice is safe for these methods
	}
	if ok && err == nil && resp.StatusCode == http.StatusNoContent && resp.ProtoMajor == 1 {
		// Some servers announce content, and send it, although there is none by the status (RFC
		// 9110, 15.3.5, and RFC 9112, 6.3).
		if length := resp.Header.Get("Content-Length"); length != "" && length != "0" || resp.TransferEncoding != nil {
			t.CloseIdleConnections() // no later request may take the content for its own response
		}
	}
	return resp, err
}

func isControl(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }

// sendAlone makes one request over a new connection that t dials.
func (c *Client) sendAlone(t *http.Transport, r *http.Request) (*http.Response, error) {
	conn, err := dialAlone(t, r)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(r.Context(), func() { closeQuietly(conn) })
	end := func() {
		stop()
		closeQuietly(conn)
	}
	r = r.Clone(r.Context())
	r.Close = true
	written := make(chan error, 1)
	c.work.Go(func() { // ends with the connection
		err := r.Write(conn)
		written <- err
		if err != nil {
			end()
		}
	})
	resp, err := readResponse(conn, r)
	if err != nil {
		end()
		select {
		case cause := <-written:
			err = errors.Join(cause, err)
		default:
		}
		return nil, err
	}
	resp.Body = aloneBody{resp.Body, end}
	return resp, nil
}

func dialAlone(t *http.Transport, r *http.Request) (net.Conn, error) {
	port := r.URL.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[r.URL.Scheme]
	}
	conn, err := t.DialContext(r.Context(), "tcp", net.JoinHostPort(r.URL.Hostname(), port))
	if err != nil || r.URL.Scheme == "http" {
		return conn, err
	}
	config := t.TLSClientConfig.Clone()
	if config == nil {
		config = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	config.ServerName, config.NextProtos = r.URL.Hostname(), []string{"http/1.1"}
	ctx, cancel := context.WithTimeout(r.Context(), max(t.TLSHandshakeTimeout, time.Second))
	defer cancel()
	secure := tls.Client(conn, config)
	if err := secure.HandshakeContext(ctx); err != nil {
		closeQuietly(conn)
		return nil, err
	}
	return secure, nil
}

type aloneBody struct {
	io.Reader
	end func()
}

// Close implements io.Closer. It waits for nothing.
func (b aloneBody) Close() error {
	b.end()
	return nil
}

func readResponse(conn io.Reader, r *http.Request) (*http.Response, error) {
	from := bufio.NewReader(conn)
	for range maxInterim {
		head, odd, err := ReadHead(nil, from, maxHead)
		if err != nil {
			return nil, err
		}
		// The inner reader returns only the head at first, so that bytes after an interim response are not lost in the outer one.
		resp, err := http.ReadResponse(bufio.NewReader(io.MultiReader(bytes.NewReader(head), from)), r)
		if err != nil {
			return nil, err
		}
		if resp.StatusCode < http.StatusOK && resp.StatusCode != http.StatusSwitchingProtocols {
			continue
		}
		for i := 0; i < len(odd); i += 2 {
			resp.Header.Add(odd[i], odd[i+1])
		}
		return resp, nil
	}
	return nil, errors.New("too many interim responses")
}

// ErrLongHead is the error of a head of more bytes than it may have.
var ErrLongHead = errors.New("the head is too long")

// ReadHead reads a head of HTTP/1.1 to its empty line, of limit bytes at most, into buffer if that suffices, and removes the fields
// whose values have control characters: odd is their names and values in turn.
func ReadHead(buffer []byte, from *bufio.Reader, limit int) (head []byte, odd []string, err error) {
	head = buffer[:0]
	for start, isOdd := 0, false; ; start = len(head) {
		if head, err = appendLine(head, from, limit); err != nil {
			return nil, nil, err
		}
		limit -= len(head) - start
		text := bytes.TrimRight(head[start:], "\r\n")
		name, value, _ := bytes.Cut(text, []byte(":"))
		folded := len(text) > 0 && (text[0] == ' ' || text[0] == '\t')
		if folded && isOdd {
			return nil, nil, textproto.ProtocolError("malformed MIME header line: " + string(text))
		}
		isOdd = start > 0 && bytes.ContainsFunc(value, isControl) && !bytes.ContainsAny(value, "\x00\r") &&
			mimetype.IsToken(string(name)) && !isFraming(string(name))
		if isOdd {
			odd = append(odd, http.CanonicalHeaderKey(string(name)), strings.Trim(string(value), " \t"))
			head = head[:start]
		}
		if len(text) == 0 {
			return head, odd, nil
		}
	}
}

// appendLine appends a line, with its end, of limit bytes at most.
func appendLine(to []byte, from *bufio.Reader, limit int) ([]byte, error) {
	for {
		line, err := from.ReadSlice('\n')
		if limit -= len(line); limit < 0 {
			return nil, ErrLongHead
		}
		to = append(to, line...)
		if err == nil || !errors.Is(err, bufio.ErrBufferFull) {
			return to, err
		}
	}
}

func isFraming(name string) bool {
	return strings.EqualFold(name, "Content-Length") || strings.EqualFold(name, "Transfer-Encoding")
}
