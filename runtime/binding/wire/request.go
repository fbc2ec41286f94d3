package wire

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httputil"
	"strings"
	"sync/atomic"

	"github.com/pages-toolchain/pages/runtime/web/fetch"
)

// This file reads requests. net/http parses a head, but refuses forms that workerd sends: a % in a URL outside of an escape, and
// control characters in values of headers.

var errHead = errors.New("the head of the request is too long")

// nextRequest reads a request, but not its body.
func nextRequest(b *buffers) (*http.Request, *requestBody, error) {
	from := b.in
	head, odd, err := fetch.ReadHead(b.head, from, maxHead)
	if errors.Is(err, fetch.ErrLongHead) {
		err = errHead
	}
	if err != nil {
		return nil, nil, err
	}
	target, fixed := "", head
	if bytes.IndexByte(head, '%') >= 0 {
		target, fixed = escapeTarget(head)
	}
	b.lines.Reset(bytes.NewReader(fixed))
	r, err := http.ReadRequest(b.lines)
	b.lines.Reset(nil)
	if b.head = head[:0]; cap(head) > gathered {
		b.head = nil
	}
	if err != nil {
		return nil, nil, err
	}
	if target != "" {
		r.RequestURI = target
	}
	for i := 0; i < len(odd); i += 2 {
		r.Header.Add(odd[i], odd[i+1])
	}
	body := &requestBody{}
	switch {
	case r.ContentLength < 0:
		body.r = &chunkedBody{from: from, chunks: httputil.NewChunkedReader(from)}
	case r.ContentLength > 0:
		body.r = &sizedBody{from: from, left: r.ContentLength}
	default:
		body.r = http.NoBody
		body.ended.Store(true)
		r.Body = http.NoBody
		return r, body, nil
	}
	r.Body = body
	return r, body, nil
}

// escapeTarget returns the target of a head, and the head with a target that net/http accepts.
func escapeTarget(head []byte) (target string, fixed []byte) {
	line, rest, _ := bytes.Cut(head, []byte("\n"))
	method, after, _ := strings.Cut(string(line), " ")
	target, version, ok := strings.Cut(after, " ")
	escaped := fetch.EscapePercent(target)
	if !ok || escaped == target {
		return "", head
	}
	return target, append([]byte(method+" "+escaped+" "+version+"\n"), rest...)
}

// requestBody is the body of a request. It records whether it was read completely or ended early.
type requestBody struct {
	r             io.Reader
	ended, broken atomic.Bool
}

// Read implements io.Reader.
func (b *requestBody) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	if errors.Is(err, io.EOF) {
		b.ended.Store(true)
	} else if err != nil {
		b.broken.Store(true)
	}
	return n, err
}

// Close implements io.Closer. The unread rest stays in the connection.
func (b *requestBody) Close() error { return nil }

// sizedBody is a body with a length in the head.
type sizedBody struct {
	from *bufio.Reader
	left int64
}

// Read implements io.Reader.
func (b *sizedBody) Read(p []byte) (int, error) {
	if b.left == 0 {
		return 0, io.EOF
	}
	n, err := b.from.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	if b.left == 0 {
		return n, io.EOF
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// chunkedBody is a body in chunks, with a trailer that is ignored.
type chunkedBody struct {
	from   *bufio.Reader
	chunks io.Reader
	ended  bool
}

// Read implements io.Reader.
func (b *chunkedBody) Read(p []byte) (int, error) {
	if b.ended {
		return 0, io.EOF
	}
	n, err := b.chunks.Read(p)
	if !errors.Is(err, io.EOF) {
		return n, err
	}
	if _, _, err := fetch.ReadHead(nil, b.from, maxHead); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return n, err
	}
	b.ended = true
	return n, io.EOF
}
