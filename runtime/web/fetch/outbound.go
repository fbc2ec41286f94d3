package fetch

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"hash"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/pages-toolchain/pages/runtime/engine"
	"github.com/pages-toolchain/pages/runtime/web/iocontext"
)

// Outbound is one fetch of a Worker, from its start until its body is read.
type Outbound struct {
	method, url string
	header      []string // name, value, name, value, …
	redirect    string   // follow, manual or error
	integrity   string   // of the response's body; empty for none
	manual      bool     // the response's body stays encoded
	upgrade     bool     // asks for a WebSocket, by the headers of a client
	// The body: at most one of whole and stream. A stream is sent once only.
	whole  []byte
	stream io.Reader
	length int64          // of stream; -1 for unknown
	upload *io.PipeWriter // the other end of stream, when JavaScript fills it

	ctx context.Context //nolint:containedctx // owned: stop ends it
	// Stop ends it, with the reason.
	Stop context.CancelCauseFunc
}

// Context is done when the fetch is ended.
func (f *Outbound) Context() context.Context { return f.ctx }

// URL is the target of the next hop.
func (f *Outbound) URL() string { return f.url }

// Header returns the headers of the next hop: names and values in turn.
func (f *Outbound) Header() []string { return f.header }

// Head is a response without a body as fetch_start gives it.
func (f *Outbound) Head(resp *http.Response, redirected bool) []any {
	return f.responseValues(resp, redirected, -1)
}

func (f *Outbound) responseValues(resp *http.Response, redirected bool, handle int64) []any {
	_, text, _ := strings.Cut(resp.Status, " ")
	at, _, _ := strings.Cut(f.url, "#")
	return []any{resp.StatusCode, wireText(text), at, redirected, flatten(resp.Header, ""), handle}
}

// verify reads a body that has an integrity option, and returns a reader of the read bytes.
func (f *Outbound) verify(iso *engine.Isolate, content io.Reader) (io.Reader, error) {
	if f.integrity == "" {
		return content, nil
	}
	var reserved int64
	context.AfterFunc(f.ctx, func() { iso.Discharge(reserved) })
	all, err := io.ReadAll(io.LimitReader(iocontext.Counted{R: content, Reserve: func(n int64) error {
		err := iso.Charge(f.ctx, n)
		if err == nil {
			reserved += n
		}
		return err
	}}, iocontext.MaxBody+1))
	if err == nil && len(all) > iocontext.MaxBody {
		err = iocontext.ErrLongBody
	}
	if err != nil {
		return nil, err
	}
	if !checkIntegrity(f.integrity, all) {
		return nil, engine.TypeError("fetch to %q: the response does not match the integrity %q", f.url, f.integrity)
	}
	return bytes.NewReader(all), nil
}

func closeQuietly(c io.Closer) { _ = c.Close() }

// Error returns the exception of a fetch without a response, with the reason: an Error, as in production, although the standard has a
// TypeError.
func (f *Outbound) Error(err error) error {
	if cause := context.Cause(f.ctx); cause != nil && errors.Is(err, context.Canceled) {
		err = cause
	}
	if thrown, ok := errors.AsType[*engine.Error](err); ok {
		return thrown
	}
	if refused, ok := errors.AsType[*refusal](err); ok {
		return &engine.Error{Name: "Error", Message: refused.Error()}
	}
	if malformed, ok := errors.AsType[*url.Error](err); ok && malformed.Op == "parse" {
		return engine.TypeError("fetch to %q failed: %v", f.url, malformed.Err)
	}
	if name, ok := errors.AsType[*net.DNSError](err); ok {
		if name.IsNotFound {
			return engine.ConnectionLost("fetch to %q failed: no name server knows %q", f.url, name.Name)
		}
		return engine.ConnectionLost( // without the name of the server
			"fetch to %q failed: %q cannot be looked up: %s", f.url, name.Name, name.Err)
	}
	return engine.ConnectionLost("fetch to %q failed: %v", f.url, err)
}

// EscapePercent escapes each % of a URL's path that begins no escape: it is a part of a URL for the web, but not for net/url.
func EscapePercent(url string) string {
	path, query, found := strings.Cut(url, "?")
	path = strayPercent.ReplaceAllString(path, "%25$1")
	if found {
		path += "?" + query
	}
	return path
}

var strayPercent = regexp.MustCompile(`%([^0-9A-Fa-f]|[0-9A-Fa-f][^0-9A-Fa-f]|[0-9A-Fa-f]?$)`)

func (f *Outbound) newRequest() (*http.Request, error) {
	var body io.Reader
	switch {
	case f.stream != nil:
		body = io.NopCloser(f.stream)
	case f.whole != nil:
		body = bytes.NewReader(f.whole)
	}
	r, err := http.NewRequestWithContext(f.ctx, f.method, f.url, body)
	if err != nil {
		r, err = http.NewRequestWithContext(f.ctx, f.method, EscapePercent(f.url), body)
	}
	if err != nil {
		return nil, err
	}
	if f.stream != nil {
		r.ContentLength = f.length
	}
	r.Header = RequestHeader(f.header)
	if r.Header["Accept-Encoding"] == nil {
		accept := "br, gzip"
		if r.Header["Range"] != nil {
			accept = "identity" // a part of something compressed could not be read
		}
		r.Header.Set("Accept-Encoding", accept)
	}
	if (f.method == http.MethodPut || f.method == http.MethodDelete) && r.Header["X-Idempotency-Key"] == nil {
		// Says to net/http alone that it may ask again when a kept connection turns out to be
		// closed (RFC 9110, 9.2.2); it would for GET only.
		r.Header["X-Idempotency-Key"] = []string{}
	}
	return r, nil
}

// BodyAllowed reports whether a response to method with this status may have a body.
func BodyAllowed(method string, status int) bool {
	switch status {
	case http.StatusSwitchingProtocols, http.StatusNoContent, http.StatusResetContent, http.StatusNotModified:
		return false
	}
	return method != http.MethodHead
}

// checkIntegrity reports whether content matches an integrity (Subresource Integrity, 3.3.5): one
// of the digests of the strongest algorithm must match. An integrity without a known digest has no
// effect.
func checkIntegrity(integrity string, content []byte) bool {
	strongest, want := 0, [][]byte{}
	for item := range strings.FieldsSeq(integrity) {
		item, _, _ = strings.Cut(item, "?") // options mean nothing yet
		algorithm, text, _ := strings.Cut(item, "-")
		strength := slices.Index([]string{"sha256", "sha384", "sha512"}, strings.ToLower(algorithm))
		text = strings.TrimRight(strings.NewReplacer("-", "+", "_", "/").Replace(text), "=")
		digest, err := base64.RawStdEncoding.DecodeString(text)
		if strength < 0 || strength+1 < strongest {
			continue
		}
		if strength+1 > strongest {
			strongest, want = strength+1, nil
		}
		if err == nil { // invalid base64 matches nothing
			want = append(want, digest)
		}
	}
	if strongest == 0 {
		return true
	}
	h := []func() hash.Hash{sha256.New, sha512.New384, sha512.New}[strongest-1]()
	h.Write(content)
	got := h.Sum(nil)
	return slices.ContainsFunc(want, func(digest []byte) bool { return bytes.Equal(digest, got) })
}
