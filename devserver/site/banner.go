package site

import (
	_ "embed"
	"fmt"
	"html"
	"io"
	"net/http"
	"strconv"
)

// This file adds a banner to the pages of a preview, which says that it is one. The rules are those of the dev server's
// reload script: only complete, uncompressed HTML that a browser shows in a tab, and one element after the document. It has
// no script; its style sheet is the site's own, with the nonce of the page's policy. Where the policy forbids it, the
// banner is a plain line at the end of the page.

// bannerStyle is served at bannerPath on previews.
//
//go:embed banner.css
var bannerStyle []byte

const (
	bannerName = "preview.css"
	bannerPath = reservedPrefix + "/" + bannerName
)

// bannerWriter is the response of one navigation.
type bannerWriter struct {
	http.ResponseWriter
	site    *Site
	head    bool // of HEAD
	begun   bool
	element string
	length  int64 // the site's Content-Length, -1 when it gave none
	sent    int64
}

// withBanner returns the writer and the request of a preview's page; nil where it gets no banner.
func (s *Site) withBanner(w http.ResponseWriter, r *http.Request) (*bannerWriter, *http.Request) {
	if dest := r.Header.Get("Sec-Fetch-Dest"); !s.options.Preview || !ShowsDocument(r) || dest == "iframe" || dest == "frame" {
		return nil, nil
	}
	r = r.WithContext(WithoutEncoding(r.Context()))
	r.Header = r.Header.Clone()
	for _, name := range []string{"If-None-Match", "If-Modified-Since"} { // what a browser has of it may be another banner's
		r.Header.Del(name)
	}
	return &bannerWriter{ResponseWriter: w, site: s, head: r.Method == http.MethodHead, length: -1}, r
}

// bannerText is what the banner says.
func (s *Site) bannerText() string {
	text := "Preview"
	if s.options.PreviewName != "" {
		text += " “" + s.options.PreviewName + "”"
	}
	if now := s.current.Load(); now != nil {
		text += " of revision " + now.revision.ID
	}
	return text + ": this is not what is published"
}

// WriteHeader decides whether this response gets the banner.
func (w *bannerWriter) WriteHeader(status int) {
	if w.begun || status >= 100 && status < 200 {
		w.ResponseWriter.WriteHeader(status)
		return
	}
	w.begun = true
	if h := w.Header(); TakesElement(status, h) {
		nonce := PolicyNonce(h.Values("Content-Security-Policy"), "style-src", "style-src-elem", "default-src")
		if nonce != "" {
			nonce = ` nonce="` + nonce + `"`
		}
		w.element = fmt.Sprintf("\n<link rel=\"stylesheet\" href=%q%s><pages-preview role=\"note\">%s</pages-preview>\n",
			bannerPath, nonce, html.EscapeString(w.site.bannerText()))
		if n, err := strconv.ParseInt(h.Get("Content-Length"), 10, 64); err == nil {
			w.length = n
			h.Set("Content-Length", strconv.FormatInt(n+int64(len(w.element)), 10))
		}
		for _, name := range []string{"ETag", "Content-Digest", "Repr-Digest", "Digest", "Content-MD5"} { // of other bytes
			h.Del(name)
		}
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (w *bannerWriter) Write(b []byte) (int, error) {
	if !w.begun {
		w.WriteHeader(http.StatusOK)
	}
	n, err := w.ResponseWriter.Write(b)
	w.sent += int64(n)
	return n, err
}

// ReadFrom lets the server send files without a copy.
func (w *bannerWriter) ReadFrom(src io.Reader) (int64, error) {
	if !w.begun {
		w.WriteHeader(http.StatusOK)
	}
	n, err := io.Copy(w.ResponseWriter, src)
	w.sent += n
	return n, err
}

// FlushError decides about the head before it flushes.
func (w *bannerWriter) FlushError() error {
	if !w.begun {
		w.WriteHeader(http.StatusOK)
	}
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// Unwrap lets http.ResponseController reach the connection.
func (w *bannerWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// finish adds the banner to a complete body.
func (w *bannerWriter) finish() {
	if w.element == "" || w.length >= 0 && w.sent != w.length || w.head && w.sent == 0 {
		return
	}
	_, _ = io.WriteString(w.ResponseWriter, w.element) // the client may be gone
}

// serveBannerStyle is GET /__pages/preview.css on a preview.
func (x *exchange) serveBannerStyle() {
	x.out.Header().Set("Content-Type", "text/css; charset=utf-8")
	x.out.WriteHeader(http.StatusOK)
	x.out.write(bannerStyle)
}
