package site

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pages-toolchain/pages/devserver/loopback"
)

// Header values shared by all responses. Nobody writes to them.
var (
	cachePublic  = []string{"public, max-age=0, must-revalidate"}
	cachePrivate = []string{"private, no-cache"}
	cacheNever   = []string{"no-store"}
	nosniff      = []string{"nosniff"}
	acceptBytes  = []string{"bytes"}
)

// conditional are the headers that make a response something else than the whole file.
var conditional = []string{"Range", "If-None-Match", "If-Match", "If-Range", "If-Modified-Since", "If-Unmodified-Since"}

// serveStatic answers from the files, as it was decided.
func (x *exchange) serveStatic(d decision) {
	x.source = FromStatic
	if d.takesHeaderRules() {
		x.out.changes = x.serving.rules.Headers(x.hostName(), x.path.escaped)
	}
	switch d.answer {
	case AnswerAsset:
		x.sendFile(d.file)
	case AnswerRedirect:
		x.redirect(d)
	case AnswerNotFoundPage:
		x.sendNotFound(d.file)
	case AnswerMethodNotAllowed:
		x.out.Header().Set("Allow", "GET, HEAD")
		x.refuse(refuse(http.StatusMethodNotAllowed, "method_not_allowed", "this page can only be read").
			fix("list the path in \"routes\" of the manifest to let the Worker answer it"))
	default:
		x.refuse(refuse(http.StatusNotFound, "not_found", "there is no page at this address"))
	}
}

// sendNotFound sends a 404 page, whole.
func (x *exchange) sendNotFound(page *file) {
	contents, _, err := x.serving.static.load(page)
	if err != nil {
		x.fileFailed(page, err)
		return
	}
	x.fileHeaders(page)
	x.out.Header()["Content-Length"] = []string{strconv.Itoa(len(contents))}
	x.out.WriteHeader(http.StatusNotFound)
	x.writeBody(contents)
}

// redirect leads to another path of the site, or where a rule does, and keeps the query.
func (x *exchange) redirect(d decision) {
	x.out.Header()["Cache-Control"] = x.cacheControl()
	x.goTo(d.redirectTarget(x.path))
}

// redirectTarget says how and where a redirect leads from a path.
func (d *decision) redirectTarget(from Path) (status int, target string) {
	if d.rule.Line > 0 {
		return d.rule.Status, d.rule.Location(from.query)
	}
	return http.StatusTemporaryRedirect, from.sibling(d.redirect)
}

// hostName is the host that was asked for, as the rules of "_headers" name hosts.
func (x *exchange) hostName() string {
	name, _ := loopback.BareHost(cmp.Or(x.path.authority, x.r.Host))
	return name
}

// sendFile answers with a file, or with the part of it that was asked for.
func (x *exchange) sendFile(f *file) {
	if f.asset.Size > cachedFileBytes {
		x.sendLarge(f)
		return
	}
	contents, tag, err := x.serving.static.load(f)
	if err != nil {
		x.fileFailed(f, err)
		return
	}
	x.fileHeaders(f)
	if &tag[0] != &f.etag[0] { // edited a moment ago: what is known is of another version
		x.out.Header()["Etag"] = tag
		x.sendContents(contents, []string{strconv.Itoa(len(contents))}, time.Time{})
		return
	}
	if x.sendEncoded(f, contents) {
		return
	}
	if memory := f.memory.Load().get(); memory != nil && x.sendMemory(f, memory) {
		return
	}
	x.sendContents(contents, f.length, x.lastModified(f))
}

// sendMemory sends a whole file from the kernel's memory, and is false where that is not
// what was asked for, or cannot be.
func (x *exchange) sendMemory(f *file, memory *memoryFile) bool {
	if _, ok := x.out.ResponseWriter.(io.ReaderFrom); !ok || x.r.Method != http.MethodGet || x.hasConditions() {
		return false
	}
	opened, err := memory.open()
	if err != nil {
		return false
	}
	defer opened.Close()
	x.lastModified(f)
	h := x.out.Header()
	h["Accept-Ranges"], h["Content-Length"] = acceptBytes, f.length
	_, _ = x.out.ReadFrom(&io.LimitedReader{R: opened, N: f.asset.Size}) // the reader may be gone by now
	return true
}

// hasConditions reports whether a request asks for a part, or for what it does not have yet.
func (x *exchange) hasConditions() bool {
	return slices.ContainsFunc(conditional, func(name string) bool { return x.r.Header[name] != nil })
}

// sendEncoded says which version is sent, and sends it compressed if the client
// likes that. contents are nil for a file that is not kept in memory.
func (x *exchange) sendEncoded(f *file, contents []byte) bool {
	h := x.out.Header()
	h["Etag"] = f.etag
	if !f.shrinks {
		return false
	}
	h["Vary"] = varyEncoding
	form := x.encodedForm(f, contents)
	if form == nil {
		return false
	}
	h["Etag"], h["Content-Encoding"], h["Content-Length"] = form.etag, form.name, form.length
	x.sendContents(form.bytes, form.length, x.lastModified(f))
	return true
}

// lastModified is the Last-Modified of a file; a time that is yet to come is none (RFC 9110, section 8.8.2.1).
func (x *exchange) lastModified(f *file) time.Time {
	if f.changed == nil || f.modified.After(x.began) {
		return time.Time{}
	}
	x.out.Header()["Last-Modified"] = f.changed
	return f.modified
}

// sendContents sends bytes, or what the conditions of the request make of them.
func (x *exchange) sendContents(contents []byte, length []string, modified time.Time) {
	if x.hasConditions() {
		x.serveContent(modified, bytes.NewReader(contents), int64(len(contents)))
		return
	}
	h := x.out.Header()
	h["Accept-Ranges"] = acceptBytes
	h["Content-Length"] = length
	x.writeBody(contents)
}

// sendLarge answers with a file that is not kept in memory; its compressed form may be.
func (x *exchange) sendLarge(f *file) {
	opened, info, err := x.serving.static.open(f.asset)
	if err != nil {
		x.fileFailed(f, err)
		return
	}
	defer opened.Close()
	if info.Size() != f.asset.Size {
		x.fileFailed(f, errChanged)
		return
	}
	x.fileHeaders(f)
	steady := &unchangedFile{file: opened, size: info.Size(), changed: info.ModTime()}
	if !f.asset.Modified.IsZero() && !f.asset.Modified.Equal(info.ModTime()) {
		// Written to since the index was made: nobody knows the tag of what is in it.
		x.serveContent(time.Time{}, steady, info.Size())
		return
	}
	if !x.sendEncoded(f, nil) {
		x.serveContent(x.lastModified(f), steady, info.Size())
	}
}

func (x *exchange) fileHeaders(f *file) {
	h := x.out.Header()
	h["Content-Type"] = f.kind
	h["X-Content-Type-Options"] = nosniff
	h["Cache-Control"] = x.cacheControl()
	if x.gated && strings.HasPrefix(f.kind[0], "text/html") {
		// A page that is left is kept by browsers, to go back to, and shown without being asked for:
		// also that from which its visitor signed out, unless nothing may keep it.
		h["Cache-Control"] = cacheNever
	}
}

// cacheControl keeps members pages out of shared caches.
func (x *exchange) cacheControl() []string {
	if x.gated {
		return cachePrivate
	}
	return cachePublic
}

// fileFailed answers for a file that is in the index and cannot be sent.
func (x *exchange) fileFailed(f *file, err error) {
	x.out.changes = nil
	if errors.Is(err, fs.ErrNotExist) {
		x.refuse(refuse(http.StatusNotFound, "not_found", "there is no page at this address"))
		return
	}
	x.failure = err.Error()
	x.site.options.Logger.Error("static file not sent", "path", f.asset.Path, "error", err)
	status := http.StatusInternalServerError
	if errors.Is(err, errChanged) {
		status = http.StatusServiceUnavailable
		x.out.Header().Set("Retry-After", "1")
	}
	x.refuse(refuse(status, "file_unreadable", "the file of this page could not be read"))
}

func (x *exchange) writeBody(body []byte) {
	if x.r.Method == http.MethodHead {
		x.out.begin()
		return
	}
	x.out.write(body)
}

// AssetsHandler serves the static files without the gate, the route table and
// the host check: it is what a Worker's ASSETS binding fetches from. It takes
// GET and HEAD. Called with the context of a Worker's request it reads the same
// revision.
func (s *Site) AssetsHandler() http.Handler { return http.HandlerFunc(s.serveAsset) }

func (s *Site) serveAsset(w http.ResponseWriter, r *http.Request) {
	v := s.acquire()
	defer v.release()
	x := &exchange{site: s, serving: v, r: r, plain: true, began: s.options.Now()}
	if outer := exchangeFrom(r.Context()); outer != nil {
		x.serving, x.gated, x.member, x.out.members = outer.serving, outer.gated, outer.member, outer.gated
	}
	x.out.ResponseWriter = w
	path, err := Canonical(assetTarget(r.URL))
	if err != nil {
		x.refuseError(err)
		return
	}
	x.path = path
	hit, rule, _ := x.serving.resolveTarget(path.decoded)
	x.serveStatic(x.serving.static.follow(rule, path.decoded, r.Method, hit, x.gated))
}

// assetTarget returns the path and query of a URL as the Worker wrote them.
func assetTarget(u *url.URL) string {
	bare := url.URL{Path: u.Path, RawPath: u.RawPath, RawQuery: u.RawQuery, ForceQuery: u.ForceQuery}
	return bare.RequestURI()
}
