package web

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/pages-toolchain/pages/runtime/web/compression"
	"github.com/pages-toolchain/pages/runtime/web/fetch"
	"github.com/pages-toolchain/pages/runtime/web/iocontext"
)

// write writes an answer. See Serve for its errors.
func (h *Host) write(x *Exchange, a *answer) error {
	if a.socket != nil {
		x.served.Store(true) // the connection tells by itself when the client leaves
		a.socket.Upgrade(x.w, x.r, a.header)
		return nil
	}
	coding := x.putHeader(a)
	hasBody := fetch.BodyAllowed(x.r.Method, a.status)
	if hasBody {
		if err := h.admitAnswer(x, a); err != nil {
			x.stopReading()
			x.fail(err)
			return err
		}
	}
	x.prepareVisitorBody(a.streamed || a.source != nil)
	if !hasBody {
		x.w.WriteHeader(a.status)
		return nil
	}
	out, done := compression.NewEncoder(x.w, coding)
	defer done()
	if a.source == nil && !a.streamed {
		return h.writeWhole(x, a, out, coding)
	}
	x.w.WriteHeader(a.status)
	left := declaredLength(x.w.Header())
	var err error
	if a.streamed {
		err = h.copyChunks(x, out, left)
	} else {
		err = h.copyBody(x, out, a.source, left)
	}
	if err == nil {
		err = out.Close()
	}
	if err != nil {
		return h.broken(x, err)
	}
	return nil
}

// writeWhole writes an answer whose body is all there.
func (h *Host) writeWhole(x *Exchange, a *answer, out compression.Encoder, coding string) error {
	size := len(a.text) + len(a.bytes)
	if coding == "" {
		x.w.Header().Set("Content-Length", strconv.Itoa(size))
	}
	x.w.WriteHeader(a.status)
	var err error
	if a.bytes != nil {
		_, err = out.Write(a.bytes)
	} else if a.text != "" {
		_, err = io.WriteString(out, a.text)
	}
	if err == nil {
		err = out.Close()
	}
	if err != nil {
		h.disconnect(x)
		return ErrClientGone
	}
	return nil
}

// putHeader puts the answer's headers and returns how its body is to be encoded
// on the way: "" is as it is.
func (x *Exchange) putHeader(a *answer) (coding string) {
	header := x.w.Header()
	for i := 0; i+1 < len(a.header); i += 2 {
		name, value := http.CanonicalHeaderKey(a.header[i]), a.header[i+1]
		switch before := header[name]; {
		case fetch.IsHopByHop(name):
		case len(before) > 0 && name != "Set-Cookie" && hasName(a.header[:i], name):
			before[len(before)-1] += ", " + value // one line, as get() tells it
		default:
			header[name] = append(before, value)
		}
	}
	if header["Content-Type"] == nil {
		header["Content-Type"] = nil // net/http would guess one
	}
	length := header.Get("Content-Length")
	if length != "" && !isLength(length) {
		header.Del("Content-Length")
	}
	if !a.manual {
		coding = x.negotiate(header)
	}
	whole := a.source == nil && !a.streamed
	if x.r.Method == http.MethodHead && whole && coding == "" && (length == "" || len(a.text)+len(a.bytes) > 0) {
		header.Set("Content-Length", strconv.Itoa(len(a.text)+len(a.bytes)))
	}
	return coding
}

// hasName reports whether a list of names and values has a name, which is canonical.
func hasName(list []string, name string) bool {
	for i := 0; i < len(list); i += 2 {
		if http.CanonicalHeaderKey(list[i]) == name {
			return true
		}
	}
	return false
}

// negotiate decides on the coding that content-encoding announces: the platform
// compresses by itself, for clients that accept it.
func (x *Exchange) negotiate(header http.Header) string {
	coding := strings.ToLower(header.Get("Content-Encoding"))
	if !compression.IsCoding(coding) {
		return ""
	}
	header.Del("Content-Length")
	if compression.Accepts(x.r.Header.Get("Accept-Encoding"), coding) {
		return coding
	}
	header.Del("Content-Encoding")
	return ""
}

// copyChunks writes what JavaScript streams, piece by piece. left is the declared
// length: a client that has so many bytes has them all and may close.
func (h *Host) copyChunks(x *Exchange, out compression.Encoder, left int64) error {
	if err := out.Flush(); err != nil {
		return err
	}
	gone := x.r.Context().Done()
	for {
		if left == 0 {
			x.served.Store(true)
			gone = nil
		}
		select {
		case c := <-x.chunks:
			err := h.countAnswer(x, len(c.b))
			if err == nil {
				var n int
				n, err = out.Write(c.b)
				left -= int64(n)
			}
			if err == nil {
				err = out.Flush()
			}
			c.ack <- err
			if err != nil {
				return err
			}
		case <-x.ended:
			x.mu.Lock()
			defer x.mu.Unlock()
			return x.failure
		case <-gone:
			return ErrClientGone
		case <-x.io.Scope.Context().Done():
			return x.stopped()
		}
	}
}

// copyBody writes a body that never was in JavaScript; left is as in copyChunks.
func (h *Host) copyBody(x *Exchange, out compression.Encoder, b *iocontext.Body, left int64) error {
	stop := x.afterDone(b.Close)
	defer stop()
	for {
		piece, err := b.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return iocontext.LostBody(err)
		}
		if err := h.countAnswer(x, len(piece)); err != nil {
			return err
		}
		n, err := out.Write(piece)
		if err == nil {
			err = out.Flush()
		}
		if err != nil {
			return errors.Join(ErrClientGone, err)
		}
		if left -= int64(n); left == 0 {
			return nil
		}
	}
}

// afterDone runs f when the client or the scope is gone; stop forgets it.
func (x *Exchange) afterDone(f func()) (stop func()) {
	a := context.AfterFunc(x.r.Context(), f)
	b := context.AfterFunc(x.io.Scope.Context(), f)
	return func() { a(); b() }
}

// broken ends an answer that broke off after its head.
func (h *Host) broken(x *Exchange, err error) error {
	if x.r.Context().Err() != nil || errors.Is(err, ErrClientGone) {
		h.disconnect(x)
		return ErrClientGone
	}
	x.stopReading()
	x.fail(err)
	if conn, _, hijackErr := http.NewResponseController(x.w).Hijack(); hijackErr == nil {
		x.duplex = false // the visitor's body went with the connection
		_ = conn.Close() // nobody hears of it any more
	}
	return &Aborted{Err: err}
}
