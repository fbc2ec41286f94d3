package devserver

import (
	"fmt"
	"net/http"
	"path"
	"strings"

	"github.com/pages-toolchain/pages/devserver/site"
)

// This file adds the reload script to the site's pages. The rules:
//
//   - only to documents in a browser: a GET or HEAD with such headers (Sec-Fetch-Dest, else Accept), outside /__pages/. A
//     fetch from a script, curl and tests get the site's own bytes;
//   - only to complete, uncompressed HTML: never to 1xx, 204, 3xx or 206, and not in UTF-16 or another
//     encoding without ASCII;
//   - at the end of the document, so that nothing is buffered or parsed, and the only change is one element after it;
//   - HEAD has the header of GET. Content-Length grows by the element; the entity tag gets a suffix of this run and
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
			next.ServeHTTP(w, r)
			return
		}
		version := h.current()
		iw := &injector{
			hub: h, r: r, version: version, suffix: fmt.Sprintf("~%s.%d", h.boot, version),
		}
		iw.ElementWriter = &site.ElementWriter{ResponseWriter: w, Head: r.Method == http.MethodHead, Element: iw.reload}
		iw.translate(r)
		next.ServeHTTP(iw, r.WithContext(site.WithoutEncoding(r.Context())))
		iw.Finish()
	})
}

// injector is the response of one navigation.
type injector struct {
	*site.ElementWriter

	hub     *Hub
	r       *http.Request
	version int64
	suffix  string // of entity tags
	ours    bool   // the client asked with an entity tag of this version
}

// translate gives the site its own entity tags, without those of other versions and without dates, which cannot distinguish versions.
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

// WriteHeader implements http.ResponseWriter.
func (w *injector) WriteHeader(status int) {
	if w.ours && status == http.StatusNotModified {
		w.tag(w.Header())
	}
	w.ElementWriter.WriteHeader(status)
}

// tag makes the entity tag one of this version.
func (w *injector) tag(h http.Header) {
	tag := h.Get("ETag")
	if bare, ok := strings.CutSuffix(tag, `"`); ok && len(tag) > 1 && !strings.HasSuffix(bare, w.suffix) {
		h.Set("ETag", bare+w.suffix+`"`)
	}
}

// reload returns the element of live reload for a response.
func (w *injector) reload(h http.Header) string {
	w.tag(h)
	policies := h.Values("Content-Security-Policy")
	nonce := scriptNonce(policies)
	w.hub.logObstacle(w.r, obstacleOf(policies, w.r, nonce))
	return reloadElement(w.version, nonce)
}

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
