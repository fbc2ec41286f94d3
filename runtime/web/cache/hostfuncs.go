package cache

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pages-toolchain/pages/runtime/engine"
	"github.com/pages-toolchain/pages/runtime/web/compression"
	"github.com/pages-toolchain/pages/runtime/web/iocontext"
)

// Funcs returns the host functions of caches.default and caches.open.
func Funcs(store *Store, now func() time.Time) map[string]engine.Func {
	return map[string]engine.Func{
		// cache_match(cache, url, request headers) -> a promise of null, or of [status, headers,
		// handle of the body or -1]
		"cache_match": func(c *engine.Call) (any, error) {
			x, err := iocontext.Current(c)
			if err != nil {
				return nil, err
			}
			key, at, request := keyOf(c), now(), headerOf(c.Strings(2))
			return traced(c, "match", key, func(ctx context.Context) (any, error) {
				if e := store.get(ctx, key, at); e != nil {
					return e.respond(x, request, at)
				}
				return nil, nil
			}), nil
		},
		// cache_put(cache, url, request headers, status, headers, text or bytes or null, handle of
		// the body or -1, whether that is encoded as the headers say) -> a promise of why it is not
		// stored, or null
		"cache_put": func(c *engine.Call) (any, error) { return store.putCall(c, now()) },
		// cache_delete(cache, url) -> a promise of whether it was there
		"cache_delete": func(c *engine.Call) (any, error) {
			if _, err := iocontext.Current(c); err != nil {
				return nil, err
			}
			key, at := keyOf(c), now()
			return traced(c, "delete", key, func(ctx context.Context) (any, error) { return store.remove(ctx, key, at), nil }), nil
		},
	}
}

func keyOf(c *engine.Call) entryKey {
	url, _, _ := strings.Cut(c.String(1), "#")
	return entryKey{cache: c.String(0), url: url}
}

// respond returns the response to a request, as cache_match gives it.
func (e *cached) respond(x *iocontext.Context, request http.Header, now time.Time) (any, error) {
	status, header, body := e.answer(request, now)
	if body == nil {
		return []any{status, header, -1}, nil
	}
	handle, err := x.KeepBody(iocontext.NewBody(bytes.NewReader(body), nil))
	if err != nil {
		return nil, err
	}
	return []any{status, append(header, "content-length", strconv.Itoa(len(body))), handle}, nil
}

// answer is the whole response, a part of it (206), a 304 for an unchanged one, or a 416 for a part that does not exist. body is nil
// without a body.
func (e *cached) answer(request http.Header, now time.Time) (status int, header []string, body []byte) {
	header = append(slices.Clone(e.header), "cf-cache-status", "HIT",
		"age", strconv.Itoa(int((e.age + now.Sub(e.stored)).Seconds())))
	if e.status/100 == 2 && isUnchanged(request, headerOf(e.header)) { // RFC 9110, 13.2.1
		return http.StatusNotModified, header, nil
	}
	if status, body = e.status, e.body; body == nil {
		body = []byte{}
	}
	if wanted := request.Get("Range"); wanted != "" && status == http.StatusOK {
		from, to, ok := oneRange(wanted, len(e.body))
		if !ok {
			header = append(header, "content-range", fmt.Sprintf("bytes */%d", len(e.body)))
			return http.StatusRequestedRangeNotSatisfiable, header, nil
		}
		if from >= 0 {
			status, body = http.StatusPartialContent, e.body[from:to]
			header = append(header, "content-range", fmt.Sprintf("bytes %d-%d/%d", from, to-1, len(e.body)))
		}
	}
	return status, header, body
}

// isUnchanged reports whether a conditional request has the stored response (RFC 9110, 13.2.2).
func isUnchanged(request, stored http.Header) bool {
	if match := request.Get("If-None-Match"); match != "" {
		etag := strings.TrimPrefix(stored.Get("Etag"), "W/")
		for tag := range strings.SplitSeq(match, ",") {
			tag = strings.TrimSpace(tag)
			if tag == "*" || etag != "" && strings.TrimPrefix(tag, "W/") == etag {
				return true
			}
		}
		return false
	}
	since, err := http.ParseTime(request.Get("If-Modified-Since"))
	if err != nil {
		return false
	}
	modified, err := http.ParseTime(stored.Get("Last-Modified"))
	return err == nil && !modified.After(since)
}

// oneRange reads a Range header (RFC 9110, 14.1.2). from is -1 for the whole, as for several ranges; ok is false if the range does not
// exist.
func oneRange(header string, size int) (from, to int, ok bool) {
	spec, isBytes := strings.CutPrefix(strings.ToLower(header), "bytes=")
	if strings.Contains(spec, ",") {
		return -1, 0, true
	}
	first, last, hasDash := strings.Cut(strings.TrimSpace(spec), "-")
	if !isBytes || !hasDash {
		return 0, 0, false
	}
	if first == "" {
		n, err := strconv.Atoi(last)
		if err != nil || n <= 0 || size == 0 {
			return 0, 0, false
		}
		return max(size-n, 0), size, true
	}
	from, err := strconv.Atoi(first)
	if err != nil || from < 0 || from >= size {
		return 0, 0, false
	}
	if last == "" {
		return from, size, true
	}
	end, err := strconv.Atoi(last)
	if err != nil || end < from {
		return 0, 0, false
	}
	return from, min(end+1, size), true
}

func (s *Store) putCall(c *engine.Call, now time.Time) (any, error) {
	x, err := iocontext.Current(c)
	if err != nil {
		return nil, err
	}
	e, reason := newCached(keyOf(c), int(c.Int(3)), c.Strings(4), headerOf(c.Strings(2)), now)
	encoded := c.Bool(7)
	var source *iocontext.Body
	if handle := c.Int(6); handle >= 0 {
		if source = x.Body(handle); source == nil {
			return nil, iocontext.ErrForeign
		}
	} else if e.body = c.Bytes(5); e.body == nil && !c.IsNullish(5) {
		e.body = c.TextBytes(5)
	}
	return traced(c, "put", e.key, func(ctx context.Context) (any, error) {
		if source != nil {
			var err error
			if e.body, err = source.ReadMost(ctx, maxCached); err != nil {
				return nil, iocontext.LostBody(err)
			}
		}
		if encoded { // a cached body is encoded when it is sent
			var err error
			if e.body, err = e.decode(ctx, bytes.NewReader(e.body)); err != nil {
				return nil, iocontext.LostBody(err)
			}
		}
		if reason = s.keep(ctx, e, reason); reason != "" {
			return reason, nil
		}
		return nil, nil
	}), nil
}

// newCached is a response without its body, and why it may not be stored, or "".
func newCached(key entryKey, status int, header []string, request http.Header, now time.Time) (e *cached, reason string) {
	e = &cached{key: key, status: status, header: withoutHeader(header, "content-length"), stored: now}
	fresh, reason := freshness(request, e, now)
	e.expires = now.Add(fresh)
	if headerOf(e.header).Get("Date") == "" {
		e.header = append(e.header, "date", now.UTC().Format(http.TimeFormat)) // RFC 9110, 6.6.1
	}
	return e, reason
}

// decode reads a body in the encoding of the headers. If the body exceeds maxCached, it reads one byte more than that.
func (e *cached) decode(ctx context.Context, body io.Reader) ([]byte, error) {
	body = compression.Decode(body, e.coding())
	return io.ReadAll(io.LimitReader(iocontext.Reserved(ctx, body), maxCached+1))
}

// coding is the content coding of the body when it is sent.
func (e *cached) coding() string {
	return strings.Join(headerOf(e.header).Values("Content-Encoding"), ",")
}

// keep stores a response, unless there is a reason against it, which it returns.
func (s *Store) keep(ctx context.Context, e *cached, reason string) string {
	switch {
	case reason != "":
		return reason
	case len(e.body) > maxCached:
		return fmt.Sprintf("it is larger than %d MiB", maxCached>>20)
	}
	s.put(ctx, e)
	return ""
}
