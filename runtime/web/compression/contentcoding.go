package compression

import (
	"bufio"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
)

// codings are the formats of the content codings of responses.
var codings = map[string]string{"gzip": "gzip", "deflate": "deflate", "br": "brotli"} //nolint:gochecknoglobals // a table

// IsCoding reports whether a response can be given in a content coding.
func IsCoding(name string) bool { return codings[name] != "" }

// NewEncoder writes to w in a coding, one of codings or "" for none; Flush sends the bytes written so far. Close does not close w. Call
// done at the end, also after a failure.
func NewEncoder(w http.ResponseWriter, coding string) (e Compressor, done func()) {
	p := plain{w, http.NewResponseController(w)}
	format, ok := codings[coding]
	if !ok {
		return p, func() {}
	}
	cw, done := openWriter(format, w)
	return compressed{cw, p}, done
}

type plain struct {
	http.ResponseWriter
	rc *http.ResponseController
}

// WriteString spares a copy of the text.
func (p plain) WriteString(s string) (int, error) { return io.WriteString(p.ResponseWriter, s) }

// Flush implements Compressor. A writer that cannot flush sends at the end.
func (p plain) Flush() error {
	if err := p.rc.Flush(); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	return nil
}

// Close implements io.Closer.
func (p plain) Close() error { return nil }

type compressed struct {
	Compressor
	out plain
}

// Flush implements Compressor.
func (c compressed) Flush() error {
	if err := c.Compressor.Flush(); err != nil {
		return err
	}
	return c.out.Flush()
}

// Accepts reports whether an Accept-Encoding allows coding (RFC 9110, 12.5.3).
func Accepts(header, coding string) bool {
	for item := range strings.SplitSeq(header, ",") {
		name, params, _ := strings.Cut(strings.TrimSpace(item), ";")
		if !strings.EqualFold(strings.TrimSpace(name), coding) && strings.TrimSpace(name) != "*" {
			continue
		}
		q, ok := strings.CutPrefix(strings.ReplaceAll(strings.ToLower(params), " ", ""), "q=")
		if !ok {
			return true
		}
		weight, err := strconv.ParseFloat(q, 64)
		return err == nil && weight > 0
	}
	return false
}

// Decode undoes the content codings that fetch undoes. Another coding stays.
func Decode(r io.Reader, contentEncoding string) io.Reader {
	for _, coding := range slices.Backward(strings.Split(contentEncoding, ",")) {
		switch strings.ToLower(strings.TrimSpace(coding)) {
		case "gzip", "x-gzip":
			r = &lazyReader{from: r, open: func(r *bufio.Reader) (io.Reader, error) { return gzip.NewReader(r) }}
		case "deflate":
			r = &lazyReader{from: r, open: func(r *bufio.Reader) (io.Reader, error) {
				head, err := r.Peek(2)
				if err != nil {
					return nil, err
				}
				const zlibMethod, zlibCheck = 8, 31
				if head[0]&0x0f == zlibMethod && (int(head[0])<<8|int(head[1]))%zlibCheck == 0 {
					return zlib.NewReader(r)
				}
				return flate.NewReader(r), nil // bare deflate data, which servers send by mistake
			}}
		case "br":
			r = &lazyReader{from: r, open: func(r *bufio.Reader) (io.Reader, error) { return brotli.NewReader(r), nil }}
		case "", "identity":
		default:
			return r
		}
	}
	return r
}

// lazyReader opens a decoder at the first read. An empty body is empty in any coding.
type lazyReader struct {
	from io.Reader
	open func(*bufio.Reader) (io.Reader, error)
	r    io.Reader
}

// Read implements io.Reader.
func (l *lazyReader) Read(p []byte) (int, error) {
	if l.r == nil {
		buffered := bufio.NewReader(l.from)
		if _, err := buffered.Peek(1); err != nil {
			return 0, err
		}
		r, err := l.open(buffered)
		if err != nil {
			return 0, err
		}
		l.r = r
	}
	return l.r.Read(p)
}
