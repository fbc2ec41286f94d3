package devserver

import (
	"fmt"
	"io"
	"net/http"
	"path"
	"strconv"
	"strings"

	"github.com/pages-toolchain/pages/devserver/site"
)

// This file adds the reload script to the site's pages. The rules:
//
//   - only to documents in a browser: a GET or HEAD that says so (Sec-Fetch-Dest, else Accept), outside /__pages/. A
//     fetch from a script, curl and tests get the site's own bytes;
//   - only to complete, uncompressed HTML: never to 1xx, 204, 3xx or 206;
//   - at the end of the document, so that nothing is buffered or parsed, and the only change is one element after it;
//   - HEAD says what GET would. Content-Length grows by the element; the entity tag gets a suffix of this run and
//     version, since the bytes are others; a navigation's If-None-Match is translated back, so 304 still works;
//   - with the script nonce of the page's Content-Security-Policy. The policy itself stays as it is, even if it forbids
//     the script: then the log says so, once for each directive (policy.go).

// inject wraps the site for live reload.
func (h *Hub) inject(next http.Handler) http.Handler {
	if h.mode == Off {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !site.ShowsDocument(r) {
			next.ServeHTTP(uncachedWriter{w}, r)
			return
		}
		version := h.current()
		iw := &injector{
			ResponseWriter: w, hub: h, r: r, version: version, head: r.Method == http.MethodHead,
			suffix: fmt.Sprintf("~%s.%d", h.boot, version), length: -1,
		}
		iw.translate(r)
		next.ServeHTTP(iw, r.WithContext(site.WithoutEncoding(r.Context())))
		iw.finish()
	})
}

// injector is the response of one navigation.
type injector struct {
	http.ResponseWriter
	hub     *Hub
	r       *http.Request
	version int64
	suffix  string // of entity tags
	head    bool
	ours    bool   // the client asked with an entity tag of this version
	wrote   bool   // the header is out
	element string // to add; empty for none
	length  int64  // the site's Content-Length, -1 when it gave none
	sent    int64
}

// translate gives the site the entity tags as it knows them, without those of other versions and without dates, which
// cannot tell versions apart.
func (w *injector) translate(r *http.Request) {
	known := r.Header.Values("If-None-Match")
	r.Header.Del("If-Modified-Since")
	if len(known) == 0 {
		return
	}
	r.Header.Del("If-None-Match")
	ext := path.Ext(r.URL.Path)
	mayBeHTML := ext == "" || ext == ".html" || ext == ".htm"
	var kept []string
	for tag := range strings.SplitSeq(strings.Join(known, ","), ",") {
		tag = strings.TrimSpace(tag)
		bare, ours := strings.CutSuffix(tag, w.suffix+`"`)
		switch {
		case ours:
			w.ours = true
			kept = append(kept, bare+`"`)
		case !mayBeHTML:
			kept = append(kept, tag)
		}
	}
	if len(kept) > 0 {
		r.Header.Set("If-None-Match", strings.Join(kept, ", "))
	}
}

// WriteHeader decides whether this response gets the element.
func (w *injector) WriteHeader(status int) {
	if w.wrote || (status >= 100 && status < 200) {
		w.ResponseWriter.WriteHeader(status)
		return
	}
	w.wrote = true
	h := w.Header()
	withoutFailureCache(status, h)
	inject := site.TakesElement(status, h)
	if inject || (w.ours && status == http.StatusNotModified) { // the entity tag becomes one of this version
		tag := h.Get("ETag")
		if bare, ok := strings.CutSuffix(tag, `"`); ok && len(tag) > 1 {
			h.Set("ETag", bare+w.suffix+`"`)
		}
	}
	if inject {
		policies := h.Values("Content-Security-Policy")
		nonce := scriptNonce(policies)
		w.hub.logObstacle(w.r, obstacleOf(policies, w.r, nonce))
		w.element = reloadElement(w.version, nonce)
		if n, err := strconv.ParseInt(h.Get("Content-Length"), 10, 64); err == nil {
			w.length = n
			h.Set("Content-Length", strconv.FormatInt(n+int64(len(w.element)), 10))
		}
		for _, digest := range []string{"Content-Digest", "Repr-Digest", "Digest", "Content-MD5"} {
			h.Del(digest)
		}
	}
	w.ResponseWriter.WriteHeader(status)
}

// withoutFailureCache has no browser cache a failure under a Cache-Control that the site gives all its responses: while
// a build writes its files anew, a missing one is there in a moment, and would stay missing for a year.
func withoutFailureCache(status int, h http.Header) {
	if status >= 400 && h.Get("Cache-Control") != "" {
		h.Set("Cache-Control", "no-store")
	}
}

// uncachedWriter writes a response that is no document.
type uncachedWriter struct{ http.ResponseWriter }

// WriteHeader implements http.ResponseWriter.
func (w uncachedWriter) WriteHeader(status int) {
	withoutFailureCache(status, w.Header())
	w.ResponseWriter.WriteHeader(status)
}

// ReadFrom lets the server send files without a copy.
func (w uncachedWriter) ReadFrom(src io.Reader) (int64, error) { return io.Copy(w.ResponseWriter, src) }

// Flush implements http.Flusher.
func (w uncachedWriter) Flush() { _ = http.NewResponseController(w.ResponseWriter).Flush() }

// Unwrap lets deadlines and hijacks reach the connection.
func (w uncachedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// reloadElement returns the element for a page that shows the given version.
func reloadElement(version int64, nonce string) string {
	if nonce != "" {
		nonce = ` nonce="` + nonce + `"`
	}
	return fmt.Sprintf("\n<script src=\"%s?v=%d\"%s></script>\n", scriptPath, version, nonce)
}

// scriptNonce returns the nonce of a page's policies for scripts.
func scriptNonce(policies []string) string {
	return site.PolicyNonce(policies, "script-src", "script-src-elem", "default-src")
}

func (w *injector) Write(b []byte) (int, error) {
	if !w.wrote {
		w.WriteHeader(http.StatusOK)
	}
	n, err := w.ResponseWriter.Write(b)
	w.sent += int64(n)
	return n, err
}

// ReadFrom lets the server send files without a copy.
func (w *injector) ReadFrom(src io.Reader) (int64, error) {
	if !w.wrote {
		w.WriteHeader(http.StatusOK)
	}
	n, err := io.Copy(w.ResponseWriter, src)
	w.sent += n
	return n, err
}

// FlushError decides about the header before it flushes: flushing the wrapped writer would send it undecided.
func (w *injector) FlushError() error {
	if !w.wrote {
		w.WriteHeader(http.StatusOK)
	}
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// Flush implements http.Flusher.
func (w *injector) Flush() { _ = w.FlushError() }

// Unwrap lets deadlines reach the connection.
func (w *injector) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// finish adds the element to a complete body. A HEAD response without a body gets none: its length, if known, is in the
// header already.
func (w *injector) finish() {
	if !w.wrote {
		w.WriteHeader(http.StatusOK)
	}
	if w.element == "" || (w.length >= 0 && w.sent != w.length) || (w.head && w.sent == 0) {
		return
	}
	_, _ = io.WriteString(w.ResponseWriter, w.element) // the client may be gone
}
