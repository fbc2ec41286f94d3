package site

import (
	_ "embed"
	"fmt"
	"html"
	"net/http"
	"strings"
	"unicode"
)

// This file adds a banner to the pages of a preview, to mark them as such. The rules are those of the dev server's reload script: only
// complete, uncompressed HTML that a browser shows in a tab, not in UTF-16 or another encoding without ASCII, and one element after the
// document. It has no script; its style sheet comes from the site itself, with the nonce of the page's policy. If the policy forbids it,
// the banner is a plain line at the end of the page.

// bannerStyle is served at bannerPath on previews.
//
//go:embed banner.css
var bannerStyle []byte

const (
	bannerName = "preview.css"
	bannerPath = reservedPrefix + "/" + bannerName
)

// withBanner returns the writer and the request of a preview's page; nil for a page without a banner.
func (s *Site) withBanner(w http.ResponseWriter, r *http.Request) (*ElementWriter, *http.Request) {
	if dest := r.Header.Get("Sec-Fetch-Dest"); !s.options.Preview || !ShowsDocument(r) || dest == "iframe" || dest == "frame" {
		return nil, nil
	}
	r = r.WithContext(WithoutEncoding(r.Context()))
	r.Header = r.Header.Clone()
	for _, name := range []string{"If-None-Match", "If-Modified-Since"} { // the browser's copy may have another banner
		r.Header.Del(name)
	}
	return &ElementWriter{ResponseWriter: w, Head: r.Method == http.MethodHead, Element: s.banner}, r
}

// bannerText returns the text of the banner.
func (s *Site) bannerText() string {
	text := "Preview"
	if s.options.PreviewName != "" {
		text += " “" + s.options.PreviewName + "”"
	}
	if now := s.current.Load(); now != nil {
		text += " of revision " + now.revision.ID
	}
	return text + ": this is not the published site"
}

// banner returns the element for a response, and changes its entity tag, since the bytes differ.
func (s *Site) banner(h http.Header) string {
	nonce := PolicyNonce(h.Values("Content-Security-Policy"), "style-src", "style-src-elem", "default-src")
	if nonce != "" {
		nonce = ` nonce="` + nonce + `"`
	}
	h.Del("ETag")
	return fmt.Sprintf("\n<link rel=\"stylesheet\" href=%q%s><pages-preview role=\"note\">%s</pages-preview>\n",
		bannerPath, nonce, asciiHTML(s.bannerText()))
}

// asciiHTML escapes a text for HTML in any encoding that keeps ASCII.
func asciiHTML(text string) string {
	var b strings.Builder
	for _, r := range html.EscapeString(text) {
		if r > unicode.MaxASCII {
			fmt.Fprintf(&b, "&#%d;", r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// serveBannerStyle is GET /__pages/preview.css on a preview.
func (x *exchange) serveBannerStyle() {
	x.out.Header().Set("Content-Type", "text/css; charset=utf-8")
	x.out.WriteHeader(http.StatusOK)
	x.out.write(bannerStyle)
}
