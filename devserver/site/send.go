package site

import (
	"bytes"
	"errors"
	"io/fs"
	"net/http"
	"net/url"
	"strconv"
	"time"
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
var conditional = []string{"Range", "If-None-Match", "If-Match", "If-Range"}

// serveStatic answers from the files, as it was decided.
func (x *exchange) serveStatic(d decision) {
	x.source = FromStatic
	switch d.answer {
	case AnswerAsset:
		x.sendFile(d.file)
	case AnswerRedirect:
		x.redirectTo(d.redirect)
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

// redirectTo leads to another path of the site and keeps the query.
func (x *exchange) redirectTo(path string) {
	x.out.Header()["Cache-Control"] = x.cacheControl()
	x.goTo(http.StatusTemporaryRedirect, x.path.sibling(path))
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
	h := x.out.Header()
	length := f.lengthOf(contents)
	if f.shrinks && &tag[0] == &f.etag[0] { // not of a file that was edited a moment ago
		h["Vary"] = varyEncoding
		if form := x.encodedForm(f, contents); form != nil {
			contents, tag, length = form.bytes, form.etag, form.length
			h["Content-Encoding"], h["Content-Length"] = form.name, length
		}
	}
	h["Etag"] = tag
	for _, name := range conditional {
		if _, ok := x.r.Header[name]; ok {
			http.ServeContent(&x.out, x.r, "", time.Time{}, bytes.NewReader(contents))
			return
		}
	}
	h["Accept-Ranges"] = acceptBytes
	h["Content-Length"] = length
	x.writeBody(contents)
}

func (f *file) lengthOf(contents []byte) []string {
	if int64(len(contents)) == f.asset.Size {
		return f.length
	}
	return []string{strconv.Itoa(len(contents))}
}

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
	x.out.Header()["Etag"] = f.etag
	http.ServeContent(&x.out, x.r, "", time.Time{}, &steadyFile{file: opened, size: info.Size(), changed: info.ModTime()})
}

func (x *exchange) fileHeaders(f *file) {
	h := x.out.Header()
	h["Content-Type"] = f.kind
	h["X-Content-Type-Options"] = nosniff
	h["Cache-Control"] = x.cacheControl()
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
	x := &exchange{site: s, serving: v, r: r, plain: true}
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
	static := x.serving.static
	x.serveStatic(static.decide(path.decoded, r.Method, static.resolve(path.decoded), x.gated))
}

// assetTarget returns the path and query of a URL as the Worker wrote them.
func assetTarget(u *url.URL) string {
	bare := url.URL{Path: u.Path, RawPath: u.RawPath, RawQuery: u.RawQuery, ForceQuery: u.ForceQuery}
	return bare.RequestURI()
}
