package site

import (
	"bytes"
	"context"
	"io"
	"mime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/pages-toolchain/pages/manifest"
)

// This file compresses static files for who takes that (RFC 9110, section 12.5.3).
// Each is compressed once, when it is first asked for, and kept beside its
// contents. Files that are not kept in memory, parts of files and 404 pages are
// sent as they are.

// coding is a content coding.
type coding struct {
	name   string
	suffix string // of entity tags: other bytes, another tag
	encode func(io.Writer) (io.WriteCloser, error)
}

// codings are those we know, the best one first.
var codings = [...]coding{
	{"br", "-br", func(w io.Writer) (io.WriteCloser, error) { return brotli.NewWriterLevel(w, brotliLevel), nil }},
	{"zstd", "-zstd", func(w io.Writer) (io.WriteCloser, error) {
		return zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(cachedFileBytes))
	}},
	{"gzip", "-gzip", func(w io.Writer) (io.WriteCloser, error) {
		return gzip.NewWriterLevel(w, gzip.DefaultCompression)
	}},
}

const (
	// brotliLevel is the highest one that takes no longer than gzip does.
	brotliLevel = 4
	// minEncoded is the smallest file that is compressed: less fits into one packet as it is.
	minEncoded = 1 << 10
)

var varyEncoding = []string{"Accept-Encoding"}

// encoded are the compressed forms of one file.
type encoded struct {
	making sync.Mutex // so that each is made once
	forms  [len(codings)]atomic.Pointer[form]
}

// form is one of them, ready to be sent. One without bytes is not worth it.
type form struct {
	bytes  []byte
	name   []string // Content-Encoding
	etag   []string
	length []string
}

// encodable reports whether compressing a type of contents is worth it.
func encodable(kind string) bool {
	media, _, err := mime.ParseMediaType(kind)
	if err != nil {
		return false
	}
	switch media {
	case "application/javascript", "application/json", "application/xml", "application/wasm", "application/manifest+json",
		"application/rtf", "image/svg+xml", "image/bmp", "image/x-icon", "image/vnd.microsoft.icon",
		"font/ttf", "font/otf", "application/vnd.ms-fontobject":
		return true
	}
	return strings.HasPrefix(media, "text/") || strings.HasSuffix(media, "+json") || strings.HasSuffix(media, "+xml")
}

type plainKey struct{}

// WithoutEncoding marks a request whose answer somebody on the way changes:
// static files are sent to it as they are.
func WithoutEncoding(ctx context.Context) context.Context {
	return context.WithValue(ctx, plainKey{}, true)
}

// forbidsEncoding reports whether a rule has an answer sent as it is (RFC 9111, section 5.2.2.6).
func forbidsEncoding(c manifest.HeaderChange) bool {
	return c.Name == "Cache-Control" && strings.Contains(strings.ToLower(c.Value), "no-transform")
}

// encodedForm is the form of a file for this request, nil for the file as it is.
func (x *exchange) encodedForm(f *file, contents []byte) *form {
	if x.plain || x.r.Header["Range"] != nil || x.r.Context().Value(plainKey{}) != nil || slices.ContainsFunc(x.out.changes, forbidsEncoding) {
		return nil
	}
	at := bestCoding(x.r.Header["Accept-Encoding"])
	if at < 0 {
		return nil
	}
	kept := f.encoded.forms[at].Load()
	if kept == nil {
		kept = x.serving.static.encode(f, contents, at)
	}
	if kept.bytes == nil {
		return nil
	}
	return kept
}

// encode makes one form of a file.
func (x *staticIndex) encode(f *file, contents []byte, at int) *form {
	f.encoded.making.Lock()
	defer f.encoded.making.Unlock()
	if kept := f.encoded.forms[at].Load(); kept != nil {
		return kept
	}
	made := &form{}
	if smaller := codings[at].shrink(contents); smaller != nil {
		tag := strings.TrimSuffix(f.etag[0], `"`) + codings[at].suffix + `"`
		made = &form{smaller, []string{codings[at].name}, []string{tag}, []string{strconv.Itoa(len(smaller))}}
	}
	if x.reserve(int64(len(made.bytes))) {
		f.encoded.forms[at].Store(made)
	}
	return made
}

// shrink compresses contents; nil when that makes them no smaller.
func (c coding) shrink(contents []byte) []byte {
	var b bytes.Buffer
	w, err := c.encode(&b)
	if err != nil {
		return nil
	}
	if _, err := w.Write(contents); err != nil || w.Close() != nil || b.Len() >= len(contents) {
		return nil
	}
	return bytes.Clone(b.Bytes())
}

// bestCoding chooses among the codings that a client takes the one it prefers,
// and of several the best; -1 for none.
func bestCoding(accept []string) int {
	best, quality := -1, 0.0
	for at := range codings {
		if q := accepted(accept, codings[at].name); q > quality {
			best, quality = at, q
		}
	}
	return best
}

// accepted is the quality that the lines of Accept-Encoding give a coding, 0 for
// one that the client does not take.
func accepted(lines []string, name string) (quality float64) {
	named := false
	for _, line := range lines {
		for item := range strings.SplitSeq(line, ",") {
			token, parameter, _ := strings.Cut(item, ";")
			token = strings.TrimSpace(token)
			exactly := strings.EqualFold(token, name) || name == "gzip" && strings.EqualFold(token, "x-gzip")
			if !exactly && (token != "*" || named) {
				continue
			}
			named = named || exactly
			quality = qualityOf(parameter)
		}
	}
	return quality
}

// qualityOf reads "q=0.5"; no parameter is 1, a malformed one 0.
func qualityOf(parameter string) float64 {
	parameter = strings.TrimSpace(parameter)
	if parameter == "" {
		return 1
	}
	name, value, _ := strings.Cut(parameter, "=")
	q, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
	if err != nil || !strings.EqualFold(strings.TrimSpace(name), "q") || q < 0 || q > 1 {
		return 0
	}
	return q
}
