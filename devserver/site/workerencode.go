package site

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// This file compresses the text responses of Workers, as Cloudflare's edge does, unless the Worker has encoded the
// response, forbids it, or sends events.

// encoder compresses a stream.
type encoder interface {
	io.WriteCloser
	Flush() error
	Reset(w io.Writer)
}

// encoders pools encoders: a new one costs more than a short response.
var encoders [len(codings)]sync.Pool

func encoderFor(at int, w io.Writer) (encoder, error) {
	if e, ok := encoders[at].Get().(encoder); ok {
		e.Reset(w)
		return e, nil
	}
	return codings[at].encode(w)
}

// workerResponse is the ResponseWriter of a Worker. It delays the head until the body is long enough to be compressed, or complete.
type workerResponse struct {
	out    *recorder
	at     int // the coding that the client prefers
	head   bool
	status int // of the delayed head, 0 for none
	held   []byte
	e      encoder // nil for no compression
	dirty  bool    // e has unflushed input
}

// workerWriter returns the ResponseWriter for the Worker. done ends a complete response.
func (x *exchange) workerWriter() (w http.ResponseWriter, done func()) {
	at := bestCoding(x.r.Header["Accept-Encoding"])
	if at < 0 || x.r.Context().Value(plainKey{}) != nil {
		return &x.out, func() {}
	}
	a := &workerResponse{out: &x.out, at: at, head: x.r.Method == http.MethodHead}
	return a, a.finish
}

// Header implements http.ResponseWriter.
func (a *workerResponse) Header() http.Header { return a.out.Header() }

// Unwrap serves http.ResponseController.
func (a *workerResponse) Unwrap() http.ResponseWriter { return a.out }

// WriteHeader delays the head if the response may be compressed.
func (a *workerResponse) WriteHeader(status int) {
	if a.status != 0 || a.out.status != 0 {
		return
	}
	if status < 200 || !isCompressible(status, a.Header()) {
		a.out.WriteHeader(status)
		return
	}
	a.status = status
	if length, err := strconv.ParseInt(a.Header().Get("Content-Length"), 10, 64); err == nil {
		a.begin(length >= minEncoded)
	}
}

// isCompressible reports whether a response may be compressed, whatever its length.
func isCompressible(status int, h http.Header) bool {
	switch status {
	case http.StatusSwitchingProtocols, http.StatusNoContent, http.StatusResetContent, http.StatusPartialContent, http.StatusNotModified:
		return false
	}
	for _, name := range []string{"Content-Encoding", "Content-Range", "Content-Digest", "Repr-Digest", "Digest", "Content-Md5"} {
		if h[name] != nil {
			return false
		}
	}
	kind := h.Get("Content-Type")
	return isEncodable(kind) && !strings.HasPrefix(strings.ToLower(kind), "text/event-stream") &&
		!strings.Contains(strings.ToLower(strings.Join(h["Cache-Control"], ",")), "no-transform")
}

// begin writes the delayed head.
func (a *workerResponse) begin(compress bool) {
	status := a.status
	a.status = 0
	if compress {
		e, err := encoderFor(a.at, a.out)
		if err == nil {
			a.encode(e)
		}
	}
	a.out.WriteHeader(status)
}

// encode sets the headers of a compressed body. The same contents may compress to other bytes next time, so the entity
// tag becomes weak (RFC 9110, section 8.8.1).
func (a *workerResponse) encode(e encoder) {
	h := a.Header()
	if !a.head {
		a.e = e
	}
	delete(h, "Content-Length")
	delete(h, "Accept-Ranges")
	h["Content-Encoding"] = []string{codings[a.at].name}
	if tag := h.Get("Etag"); strings.HasPrefix(tag, `"`) {
		h["Etag"] = []string{"W/" + tag}
	}
	if !slices.ContainsFunc(h["Vary"], func(line string) bool {
		return line == "*" || strings.Contains(strings.ToLower(line), "accept-encoding")
	}) {
		h["Vary"] = append(slices.Clip(h["Vary"]), varyEncoding...)
	}
}

// Write takes a piece of the body.
func (a *workerResponse) Write(p []byte) (int, error) {
	if a.status == 0 && a.out.status == 0 {
		a.WriteHeader(http.StatusOK)
	}
	if a.status != 0 {
		if len(a.held)+len(p) < minEncoded {
			a.held = append(a.held, p...)
			return len(p), nil
		}
		if err := a.release(true); err != nil {
			return 0, err
		}
	}
	if a.e == nil {
		return a.out.Write(p)
	}
	a.dirty = true
	return a.e.Write(p)
}

// release writes the head and the beginning of the body.
func (a *workerResponse) release(compress bool) error {
	held := a.held
	a.held = nil
	a.begin(compress)
	if len(held) == 0 {
		return nil
	}
	_, err := a.Write(held)
	return err
}

// FlushError sends the bytes written so far: a Worker that flushes streams.
func (a *workerResponse) FlushError() error {
	if a.status == 0 && a.out.status == 0 {
		a.WriteHeader(http.StatusOK)
	}
	if a.status != 0 {
		if err := a.release(true); err != nil {
			return err
		}
	}
	if a.e != nil && a.dirty {
		if err := a.e.Flush(); err != nil {
			return err
		}
	}
	return http.NewResponseController(a.out.ResponseWriter).Flush()
}

// Flush implements http.Flusher.
func (a *workerResponse) Flush() { _ = a.FlushError() }

// Hijack sends the bytes written so far, and takes over the connection.
func (a *workerResponse) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	if a.status != 0 {
		_ = a.release(false) // the connection reports its own errors
	}
	a.e = nil // the end of its stream does not belong to the connection
	return a.out.Hijack()
}

// finish ends the body. No reader of errors is left.
func (a *workerResponse) finish() {
	if a.status != 0 {
		_ = a.release(a.head && a.Header().Get("Content-Length") == "")
	}
	if a.e != nil {
		_ = a.e.Close()
		encoders[a.at].Put(a.e)
		a.e = nil
	}
}
