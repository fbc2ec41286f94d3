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
	"github.com/pages-toolchain/pages/manifest/edgerules"
)

// Header values shared by all responses, and never written to.
var (
	cachePublic  = []string{"public, max-age=0, must-revalidate"}
	cachePrivate = []string{"private, no-cache"}
	cacheNever   = []string{"no-store"}
	nosniff      = []string{"nosniff"}
	acceptBytes  = []string{"bytes"}
)

// conditional lists the request headers that may change a response from the whole file to another one.
var conditional = []string{"Range", "If-None-Match", "If-Match", "If-Range", "If-Modified-Since", "If-Unmodified-Since"}

// serveStatic answers from the files.
func (x *exchange) serveStatic(d decision) {
	x.source = FromStatic
	if d.takesHeaderRules() {
		host, _ := loopback.BareHost(cmp.Or(x.path.authority, x.r.Host))
		x.out.changes = x.serving.rules.Headers(host, x.path.escaped)
	}
	switch d.answer {
	case AnswerAsset:
		x.sendFile(d.file)
	case AnswerRedirect:
		x.out.Header()["Cache-Control"] = x.cacheControl()
		x.goTo(d.redirectTarget(x.path))
	case AnswerNotFoundPage:
		contents, _, err := x.serving.static.load(d.file)
		if err != nil {
			x.fileFailed(d.file, err)
			return
		}
		x.fileHeaders(d.file)
		x.out.Header()["Content-Length"] = []string{strconv.Itoa(len(contents))}
		x.out.WriteHeader(http.StatusNotFound)
		x.writeBody(contents)
	case AnswerMethodNotAllowed:
		x.out.Header().Set("Allow", "GET, HEAD")
		x.refuse(refuse(http.StatusMethodNotAllowed, "method_not_allowed", "this page only accepts GET and HEAD").
			fix("list the path in \"routes\" of the manifest to let the Worker answer it"))
	default:
		if x.plain { // the Worker decides about the response
			x.out.WriteHeader(http.StatusNotFound)
			return
		}
		x.refuse(noSuchPage())
	}
}

// redirectTarget returns status and target of a redirect, which keeps the query.
func (d *decision) redirectTarget(from Path) (status int, target string) {
	if d.rule.Line > 0 && d.redirect == "" {
		return d.rule.Status, d.rule.Location(from.query)
	}
	from.escaped = edgerules.EscapePath(d.redirect)
	return http.StatusTemporaryRedirect, from.Target()
}

// sendFile sends a file, or the requested part of it.
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
	if &tag[0] != &f.etag[0] { // it was edited a moment ago: f describes another version
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

// sendMemory sends a whole file from the kernel's memory. It returns false if the request asks for something else, or the system has no
// such files.
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
	_, _ = x.out.ReadFrom(&io.LimitedReader{R: opened, N: f.asset.Size}) // the client may be gone by now
	return true
}

func (x *exchange) hasConditions() bool {
	return slices.ContainsFunc(conditional, func(name string) bool { return x.r.Header[name] != nil })
}

// sendEncoded sets the headers of the version sent, and sends it compressed if the client prefers that. contents are nil for a file that is
// not cached.
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

// lastModified sets Last-Modified and returns it; a time in the future does not count (RFC 9110, section 8.8.2.1).
func (x *exchange) lastModified(f *file) time.Time {
	if f.changed == nil || f.modified.After(x.began) {
		return time.Time{}
	}
	x.out.Header()["Last-Modified"] = f.changed
	return f.modified
}

// sendContents sends contents, under the request's conditions.
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

// sendLarge sends a file that is not cached; its compressed form may be.
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
	contents := &unchangedFile{file: opened, size: info.Size(), changed: info.ModTime()}
	if !f.asset.Modified.IsZero() && !f.asset.Modified.Equal(info.ModTime()) {
		x.serveContent(time.Time{}, contents, info.Size()) // it was written to after the index was made: its tag is unknown
		return
	}
	if !x.sendEncoded(f, nil) {
		x.serveContent(x.lastModified(f), contents, info.Size())
	}
}

func (x *exchange) fileHeaders(f *file) {
	h := x.out.Header()
	h["Content-Type"] = f.kind
	h["X-Content-Type-Options"] = nosniff
	h["Cache-Control"] = x.cacheControl()
	if x.gated && strings.HasPrefix(f.kind[0], "text/html") {
		// For the back button, browsers keep pages and show them without a request, even the page that signed out, unless it has no-store.
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

// fileFailed responds for a file of the index that cannot be sent.
func (x *exchange) fileFailed(f *file, err error) {
	x.out.changes = nil
	if errors.Is(err, fs.ErrNotExist) {
		x.refuse(noSuchPage())
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

// AssetsHandler serves the static files without the gate, the route table and the host check, for a Worker's ASSETS
// binding. It takes GET and HEAD. Called with the context of a Worker's request it reads the same revision.
func (s *Site) AssetsHandler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v := s.acquire()
		defer v.release()
		x := &exchange{site: s, serving: v, r: r, plain: true, began: s.options.Now()}
		if outer := exchangeFrom(r.Context()); outer != nil {
			x.serving, x.gated, x.member, x.out.members = outer.serving, outer.gated, outer.member, outer.gated
		}
		x.out.ResponseWriter = w
		asWritten := url.URL{Path: r.URL.Path, RawPath: r.URL.RawPath, RawQuery: r.URL.RawQuery, ForceQuery: r.URL.ForceQuery}
		path, err := Canonical(asWritten.RequestURI())
		if err != nil {
			x.refuseError(err)
			return
		}
		x.path = path
		if v := x.serving.revision.Upstream; v != nil {
			x.askUpstream(v)
			return
		}
		hit, rule, _ := x.serving.resolveTarget(&path, false)
		x.serveStatic(x.serving.static.follow(rule, path.decoded, r.Method, hit, x.gated))
	})
}

// This file reads the Range header (RFC 9110, section 14.2) for http.ServeContent, which refuses other units, answers an
// empty suffix with a part, and refuses large numbers.

// serveContent sends contents, under the conditions and ranges of the request.
func (x *exchange) serveContent(modified time.Time, contents io.ReadSeeker, size int64) {
	if sent := x.r.Header["Range"]; sent != nil {
		r := *x.r // the log and the Worker use the header of the request, too
		r.Header = x.r.Header.Clone()
		delete(r.Header, "Range")
		if ranges := rangesOf(sent, size); ranges != "" && x.r.Method == http.MethodGet { // section 14.2: of GET alone
			r.Header["Range"] = []string{ranges}
		}
		http.ServeContent(&x.out, &r, "", modified, contents)
		return
	}
	http.ServeContent(&x.out, x.r, "", modified, contents)
}

// rangesOf returns a Range header in a form that http.ServeContent reads right; "" for one to ignore.
func rangesOf(sent []string, size int64) string {
	unit, list, _ := strings.Cut(sent[0], "=")
	if len(sent) > 1 || !strings.EqualFold(unit, "bytes") || strings.Trim(list, ", \t") == "" {
		return ""
	}
	kept := make([]string, 0, 1)
	for spec := range strings.SplitSeq(list, ",") {
		spec = strings.Trim(spec, " \t")
		if spec == "" {
			continue
		}
		span, ok := clipRange(spec, size)
		if !ok {
			return unsatisfiableRange(size)
		}
		if span != "" {
			kept = append(kept, span)
		}
	}
	if len(kept) == 0 {
		return unsatisfiableRange(size)
	}
	return "bytes=" + strings.Join(kept, ",")
}

// unsatisfiableRange returns a Range header that gets 416 for a file of this size.
func unsatisfiableRange(size int64) string { return "bytes=" + strconv.FormatInt(size, 10) + "-" }

// clipRange returns one range with its numbers clipped to the size; "" for the last 0 bytes. For a malformed range, ok is false.
func clipRange(spec string, size int64) (kept string, ok bool) {
	from, to, dashed := strings.Cut(spec, "-")
	first, firstOK := parsePosition(from, size)
	last, lastOK := parsePosition(to, size)
	switch {
	case !dashed, from == "" && to == "", from != "" && !firstOK, to != "" && !lastOK, from != "" && to != "" && last < first:
		return "", false
	case from == "" && last == 0:
		return "", true
	case from == "":
		return "-" + strconv.FormatInt(last, 10), true
	case to == "":
		return strconv.FormatInt(first, 10) + "-", true
	}
	return strconv.FormatInt(first, 10) + "-" + strconv.FormatInt(last, 10), true
}

// parsePosition reads a number of a range, at most limit.
func parsePosition(digits string, limit int64) (int64, bool) {
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n > limit {
		return limit, true
	}
	return n, true
}
