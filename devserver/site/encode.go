package site

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
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

	"github.com/pages-toolchain/pages/manifest/edgerules"
)

// This file compresses static files (RFC 9110, section 12.5.3). Each is compressed once, at the first request, and the compressed form is
// cached, even if the file itself is too large for the cache. Files over maxEncoded, parts of files, 404 pages, and files for which the
// cache has no room are sent uncompressed.

// coding is a content coding.
type coding struct {
	name   string
	suffix string // of entity tags: each form needs its own tag
	encode func(io.Writer) (encoder, error)
}

// codings lists the supported codings, the best one first.
var codings = [...]coding{
	{"br", "-br", func(w io.Writer) (encoder, error) { return brotli.NewWriterLevel(w, brotliLevel), nil }},
	{"zstd", "-zstd", func(w io.Writer) (encoder, error) {
		return zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(cachedFileBytes))
	}},
	{"gzip", "-gzip", func(w io.Writer) (encoder, error) {
		return gzip.NewWriterLevel(w, gzip.DefaultCompression)
	}},
}

const (
	// brotliLevel is the highest level that takes no longer than gzip.
	brotliLevel = 4
	// minEncoded is the smallest file that is compressed: a smaller one fits into one packet.
	minEncoded = 1 << 10
	// maxEncoded is the largest one: its first client waits about as long as for a page.
	maxEncoded = 32 << 20
)

var varyEncoding = []string{"Accept-Encoding"}

// encoded holds the compressed forms of one file.
type encoded struct {
	making sync.Mutex // each form is made once
	forms  [len(codings)]atomic.Pointer[cacheEntry[form]]
}

// form is a compressed form, ready to send. One without bytes is not worth sending.
type form struct {
	bytes  []byte
	name   []string // Content-Encoding
	etag   []string
	length []string
}

// isEncodable reports whether compression pays for a media type.
func isEncodable(kind string) bool {
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

// WithoutEncoding marks a request whose response changes on its way to the client: it gets uncompressed files.
func WithoutEncoding(ctx context.Context) context.Context {
	return context.WithValue(ctx, plainKey{}, true)
}

// encodedForm returns the form of a file for this request; nil means the uncompressed file.
func (x *exchange) encodedForm(f *file, contents []byte) *form {
	noTransform := func(c edgerules.HeaderChange) bool { // RFC 9111, section 5.2.2.6
		return c.Name == "Cache-Control" && strings.Contains(strings.ToLower(c.Value), "no-transform")
	}
	if x.plain || x.r.Header["Range"] != nil || x.r.Context().Value(plainKey{}) != nil ||
		slices.ContainsFunc(x.out.changes, noTransform) {
		return nil
	}
	at := bestCoding(x.r.Header["Accept-Encoding"])
	if at < 0 {
		return nil
	}
	made := f.encoded.forms[at].Load().get()
	if made == nil {
		made = x.serving.static.encode(f, contents, at)
	}
	if made.bytes == nil {
		return nil
	}
	return made
}

// encode makes one form of a file; contents are nil for one that is not cached.
func (x *staticIndex) encode(f *file, contents []byte, at int) *form {
	f.encoded.making.Lock()
	defer f.encoded.making.Unlock()
	place := &f.encoded.forms[at]
	if made := place.Load().get(); made != nil {
		return made
	}
	made := &form{}
	smaller, err := x.compressFile(f, contents, at)
	if err != nil {
		return made // sent uncompressed this time
	}
	if smaller == nil || !x.cache.fits(int64(len(smaller))) {
		place.Store(newCacheEntry(made, 0)) // not cached: it takes no room there
		return made
	}
	tag := strings.TrimSuffix(f.etag[0], `"`) + codings[at].suffix + `"`
	made = &form{smaller, []string{codings[at].name}, []string{tag}, []string{strconv.Itoa(len(smaller))}}
	storeEntry(x, place, made, int64(len(smaller)))
	return made
}

// compressFile compresses a file; nil if that makes it no smaller. A file that differs from the index is an error.
func (x *staticIndex) compressFile(f *file, contents []byte, at int) ([]byte, error) {
	if contents != nil {
		return compress(at, bytes.NewReader(contents), f.asset.Size)
	}
	opened, _, err := x.open(f.asset)
	if err != nil {
		return nil, err
	}
	sum := sha256.New()
	smaller, err := compress(at, io.TeeReader(io.LimitReader(opened, maxEncoded+1), sum), f.asset.Size)
	if err := errors.Join(err, opened.Close()); err != nil {
		return nil, err
	}
	if hex.EncodeToString(sum.Sum(nil)) != f.asset.SHA256 {
		return nil, errChanged
	}
	return smaller, nil
}

// compress compresses size bytes; nil if that saves none. Its output does not depend on earlier input of the encoder.
func compress(at int, from io.Reader, size int64) ([]byte, error) {
	var b bytes.Buffer
	w, err := encoderFor(at, &b)
	if err != nil {
		return nil, err
	}
	defer encoders[at].Put(w)
	if _, err := io.Copy(w, from); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil || int64(b.Len()) >= size {
		return nil, err
	}
	return bytes.Clone(b.Bytes()), nil
}

// bestCoding returns the coding that a client prefers, the best one of equals; -1 for none.
func bestCoding(accept []string) int {
	best, quality := -1, 0.0
	for at := range codings {
		if q := codingQuality(accept, codings[at].name); q > quality {
			best, quality = at, q
		}
	}
	return best
}

// codingQuality returns the quality that the lines of Accept-Encoding give a coding, 0 for one that is not accepted.
func codingQuality(lines []string, name string) (quality float64) {
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
