package upstream

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"path"
	"strings"
)

// This file reads responses of the server on their way.

// kind is the kind of a response, by its Content-Type.
type kind int

const (
	other kind = iota // images, fonts and other bytes
	page
	script
	style
	data // JSON, text
)

func kindOf(h http.Header, at string) kind {
	name, _, err := mime.ParseMediaType(h.Get("Content-Type"))
	switch {
	case h.Get("Content-Type") == "" && isCode(at), err != nil && h.Get("Content-Type") != "":
		return script // whatever it is, a browser may run it
	case name == "":
		return data
	case name == "text/html" || name == "application/xhtml+xml":
		return page
	case name == "text/css":
		return style
	case strings.HasSuffix(name, "javascript") || strings.HasSuffix(name, "ecmascript") ||
		strings.HasSuffix(name, "typescript") || name == "text/jsx" || name == "text/tsx" || name == "video/mp2t": // .ts, for some servers
		return script
	case name == "image/svg+xml", strings.HasPrefix(name, "text/"), strings.Contains(name, "json"), strings.Contains(name, "xml"),
		name == "application/octet-stream":
		return data
	}
	return other
}

// judge decides about a response of a known kind, and reads its references.
func (p *Proxy) judge(resp *http.Response) error {
	s := passOf(resp.Request)
	m := s.modules
	if m == nil || resp.StatusCode < http.StatusOK || resp.StatusCode == http.StatusNotModified {
		return nil
	}
	name := resp.Request.URL.Path
	k := kindOf(resp.Header, name)
	empty := resp.Request.Method == http.MethodHead || resp.StatusCode == http.StatusNoContent || resp.StatusCode/100 == 3
	if s.closed && !empty && !m.open(k, name, resp) {
		return m.refusal(name)
	}
	if resp.Request.Method != http.MethodGet || resp.Header.Get("Content-Encoding") != "" {
		return nil
	}
	document := k == page && !m.leads(name)
	if k == other || k == page && !document || resp.StatusCode >= http.StatusBadRequest && !document {
		return nil
	}
	base := *resp.Request.URL
	base.Scheme, base.Host = "", ""
	resp.Body = &readBody{ReadCloser: resp.Body, modules: m, kind: k, base: &base, key: s.key, length: resp.ContentLength}
	return nil
}

// open reports whether a response that no public page names is for everybody because of its kind.
func (m *modules) open(k kind, name string, resp *http.Response) bool {
	source := m.source(name)
	switch k {
	case page:
		// The page of a source folder counts as a page at its own path, unless a members route has that name.
		return source == "" || strings.TrimPrefix(name, "/") == source && strings.HasSuffix(name, ".html") && !m.isSecret(name)
	case other:
		return source == "" || !m.isSecret(name)
	case data:
		return source == "" && !strings.HasSuffix(name, ".map") && !m.ofMembersPage(name)
	case script, style:
		return resp.StatusCode == http.StatusNotFound && resp.ContentLength == 0
	}
	return false
}

// ofMembersPage reports whether a path has the data of a members page: "/club.data", "/club/__data.json", "/_next/data/…/club.json".
func (m *modules) ofMembersPage(name string) bool {
	trimmed := strings.TrimSuffix(name, path.Ext(name))
	if strings.HasPrefix(path.Base(name), "_") {
		trimmed = path.Dir(name)
	}
	if m.leads(trimmed) {
		return true
	}
	if first := strings.TrimPrefix(trimmed, "/"); first == "" || !strings.ContainsRune("_@.", rune(first[0])) {
		return false
	}
	for i := 1; i < len(trimmed); i++ {
		if trimmed[i] == '/' && m.leads(trimmed[i:]) {
			return true
		}
	}
	return false
}

// readBody reads the references in a body before it passes on the last bytes, since a browser requests them at once. It reads
// each piece of a page as it arrives, since a page may stream; of data too, since an event stream never ends. It passes on a
// module only when it is complete.
type readBody struct {
	io.ReadCloser
	modules *modules
	kind    kind
	base    *url.URL
	key     string
	length  int64 // -1 if unknown
	text    bytes.Buffer
	long    bool // over maxReadBytes: the rest passes unread
	whole   bool // a module was read to its end
	page    pageReader
}

// Read implements io.Reader.
func (b *readBody) Read(p []byte) (int, error) {
	if b.kind == script || b.kind == style {
		return b.readModule(p)
	}
	n, err := b.ReadCloser.Read(p)
	if b.long {
		return n, err
	}
	if b.text.Write(p[:n]); b.text.Len() > maxReadBytes {
		b.long, b.text = true, bytes.Buffer{}
		return n, err
	}
	ended := errors.Is(err, io.EOF) || b.length >= 0 && int64(b.text.Len()) == b.length
	switch {
	case b.kind == page:
		if b.page.read(b.modules, b.text.Bytes(), ended) {
			b.modules.learn(b.key, b.modules.resolveAll(true, b.base, b.page.refs))
		}
	case ended:
		b.modules.learn(b.key, b.modules.answerOf(b.kind, b.base, b.text.Bytes()))
	}
	return n, err
}

func (b *readBody) readModule(p []byte) (int, error) {
	for !b.whole && !b.long {
		n, err := io.CopyN(&b.text, b.ReadCloser, 32<<10)
		b.long = b.text.Len() > maxReadBytes
		switch {
		case errors.Is(err, io.EOF):
			b.whole = true
			b.modules.learnModule(b.kind, b.base, b.key, b.text.Bytes())
		case err != nil:
			return 0, err
		case n == 0:
			return 0, io.ErrNoProgress
		}
	}
	if b.text.Len() > 0 {
		return b.text.Read(p)
	}
	if b.whole {
		return 0, io.EOF
	}
	return b.ReadCloser.Read(p)
}
