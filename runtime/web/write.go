package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/pages-toolchain/pages/runtime/engine"
	"github.com/pages-toolchain/pages/runtime/web/compression"
	"github.com/pages-toolchain/pages/runtime/web/console"
	"github.com/pages-toolchain/pages/runtime/web/fetch"
	"github.com/pages-toolchain/pages/runtime/web/iocontext"
)

// write writes a response, with the errors of Serve. Options.ResponseBytes bounds the Worker's body
// before compression; a response without a body, as to HEAD, counts nothing.
func (h *Host) write(x *Exchange, r *response) error {
	if r.socket != nil {
		x.served.Store(true) // the connection itself reports when the client leaves
		r.socket.Upgrade(x.w, x.r, r.header)
		return nil
	}
	coding := x.putHeader(r)
	hasBody := fetch.BodyAllowed(x.r.Method, r.status)
	if hasBody {
		// A response whose known size is too large is refused before its first byte: the client gets the reason instead.
		var err error
		if r.isWhole() {
			err = h.countBody(x, r.size())
		} else if declaredLength(x.w.Header()) > h.o.ResponseBytes && h.o.LimitMode == LimitEnforce {
			err = TooLarge(h.o.ResponseBytes)
		}
		if err != nil {
			x.stopReading()
			x.fail(err)
			return err
		}
	}
	// net/http reads the rest of the request before it writes the head, unless full duplex is
	// enabled because the Worker still reads; then the connection cannot be used again, and the
	// header says so. HTTP/2 and recorders do not support it and do not need it.
	stillReads := x.body != nil && !x.body.AtEnd() && (!r.isWhole() || x.body.IsRead())
	if stillReads && http.NewResponseController(x.w).EnableFullDuplex() == nil {
		x.w.Header().Set("Connection", "close")
		x.duplex = true
	}
	if r.reason != "" && h.o.StatusText != nil {
		h.o.StatusText(x.r.Context(), r.status, r.reason)
	}
	if !hasBody {
		x.w.WriteHeader(r.status)
		return nil
	}
	out, done := compression.NewEncoder(x.w, coding)
	defer done()
	if r.isWhole() && coding == "" {
		x.w.Header().Set("Content-Length", strconv.Itoa(r.size()))
	}
	x.w.WriteHeader(r.status)
	var err error
	switch {
	case r.streamed:
		err = h.copyChunks(x, out, declaredLength(x.w.Header()))
	case r.source != nil:
		err = h.copyBody(x, out, r.source, declaredLength(x.w.Header()))
	case r.bytes != nil:
		_, err = out.Write(r.bytes)
	case r.text != "":
		_, err = io.WriteString(out, r.text)
	}
	if err == nil {
		err = out.Close()
	}
	switch {
	case err == nil:
		return nil
	case r.isWhole():
		h.disconnect(x)
		return ErrClientGone
	}
	return h.abort(x, err)
}

// declaredLength is the Content-Length of a response; -1 without one.
func declaredLength(header http.Header) int64 {
	n, err := strconv.ParseInt(header.Get("Content-Length"), 10, 64)
	if err != nil {
		return -1
	}
	return n
}

// putHeader sets the response's headers and returns the content coding of its body; "" for none.
func (x *Exchange) putHeader(r *response) (coding string) {
	header := x.w.Header()
	for i := 0; i+1 < len(r.header); i += 2 {
		name, value := http.CanonicalHeaderKey(r.header[i]), r.header[i+1]
		switch before := header[name]; {
		case fetch.IsHopByHop(name):
		case len(before) > 0 && name != "Set-Cookie" && hasName(r.header[:i], name):
			before[len(before)-1] += ", " + value // one line, as get() tells it
		default:
			header[name] = append(before, value)
		}
	}
	if header["Content-Type"] == nil {
		header["Content-Type"] = nil // net/http would guess one
	}
	length := header.Get("Content-Length")
	if length != "" {
		if _, err := strconv.ParseUint(length, 10, 63); err != nil {
			header.Del("Content-Length")
		}
	}
	// The platform compresses a body by its content-encoding, for clients that accept it.
	if announced := strings.ToLower(header.Get("Content-Encoding")); !r.manual && compression.IsCoding(announced) {
		header.Del("Content-Length")
		if compression.Accepts(x.r.Header.Get("Accept-Encoding"), announced) {
			coding = announced
		} else {
			header.Del("Content-Encoding")
		}
	}
	if x.r.Method == http.MethodHead && r.isWhole() && coding == "" && (length == "" || r.size() > 0) {
		header.Set("Content-Length", strconv.Itoa(r.size()))
	}
	return coding
}

// hasName reports whether a list of names and values has a name, which is canonical.
func hasName(list []string, name string) bool {
	for pair := range slices.Chunk(list, 2) {
		if http.CanonicalHeaderKey(pair[0]) == name {
			return true
		}
	}
	return false
}

// copyChunks writes a stream of JavaScript, piece by piece. left is the declared length: a client
// that has so many bytes has them all and may close.
func (h *Host) copyChunks(x *Exchange, out compression.Compressor, left int64) error {
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
			err := h.countBody(x, len(c.b))
			if err == nil {
				err = writePiece(out, c.b)
				left -= int64(len(c.b))
			}
			if errors.Is(err, ErrClientGone) {
				return err // disconnect tells the Worker: first its signal, then its stream
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
			return x.failScope()
		}
	}
}

// copyBody writes a body that Go holds; left is as in copyChunks.
func (h *Host) copyBody(x *Exchange, out compression.Compressor, b *iocontext.Body, left int64) error {
	defer context.AfterFunc(x.r.Context(), b.Close)()
	defer context.AfterFunc(x.io.Scope.Context(), b.Close)()
	for {
		piece, err := b.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return iocontext.LostBody(err)
		}
		if err := h.countBody(x, len(piece)); err != nil {
			return err
		}
		if err := writePiece(out, piece); err != nil {
			return err
		}
		if left -= int64(len(piece)); left == 0 {
			return nil
		}
	}
}

// writePiece writes b at once. Its errors are ErrClientGone, except for more bytes than the Worker announced.
func writePiece(out compression.Compressor, b []byte) error {
	_, err := out.Write(b)
	if err == nil {
		err = out.Flush()
	}
	if err == nil || errors.Is(err, http.ErrContentLength) {
		return err
	}
	return errors.Join(ErrClientGone, err)
}

func (h *Host) abort(x *Exchange, err error) error {
	if x.r.Context().Err() != nil || errors.Is(err, ErrClientGone) {
		h.disconnect(x)
		return ErrClientGone
	}
	x.stopReading()
	x.fail(err)
	if conn, _, hijackErr := http.NewResponseController(x.w).Hijack(); hijackErr == nil {
		x.duplex = false // the request's body went with the connection
		_ = conn.Close()
	}
	return &Aborted{Err: err}
}

// countBody counts bytes of the response's body. Those over the limit end it.
func (h *Host) countBody(x *Exchange, n int) error {
	before := x.sent
	x.sent += int64(n)
	if x.sent <= h.o.ResponseBytes || h.o.LimitMode == LimitOff {
		return nil
	}
	if h.o.LimitMode == LimitEnforce {
		return TooLarge(h.o.ResponseBytes)
	}
	if before <= h.o.ResponseBytes {
		h.log(x.io.Scope, console.Entry{Level: "warn", Text: TooLarge(h.o.ResponseBytes).Err.Message})
	}
	return nil
}

// TooLarge is the Failure of a response over its limit. The message has the limit in the largest unit that divides it.
func TooLarge(most int64) *Failure {
	const kilo = 1 << 10
	n, units := most, []string{"bytes", "KiB", "MiB", "GiB"}
	for n >= kilo && n%kilo == 0 && len(units) > 1 {
		n, units = n/kilo, units[1:]
	}
	message := fmt.Sprintf("the response is larger than %d %s", n, units[0])
	return &Failure{Kind: KindResponseSize, Err: &engine.Error{Message: message}}
}
