package site

import (
	"bufio"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"strings"

	"github.com/pages-toolchain/pages/devserver/loopback"
)

// Upstream answers instead of the static files: the dev server of a framework.
//
// Serve gets the requests that passed the gate and that no route of the Worker took, as a [Worker] gets its requests. A *[RefusalError]
// refuses the request, any other error goes to [Options.ErrorPage]; both only before the first byte is written. Serve is called
// concurrently.
type Upstream interface {
	Serve(w http.ResponseWriter, r *http.Request, visit Visit) error
}

// Visit describes who makes a request.
type Visit struct {
	// Gated means that the path is for members, and that a member asks.
	Gated bool
	// Member reports whether the visitor may see members pages, whatever the path.
	Member func() bool
}

// asIs is a writer that may add an element to documents.
type asIs interface{ KeepAsIs() }

// callUpstream makes the upstream answer. If pages runs no part of the site itself, its pages need no reload script: the framework has one.
func (x *exchange) callUpstream() {
	x.source = FromUpstream
	if x.serving.revision.Worker == nil {
		keepAsIs(x.out.ResponseWriter)
	}
	x.release() // a socket may stay open for hours
	r := x.workerRequest()
	span := x.trace.Start("upstream")
	err := x.serving.revision.Upstream.Serve(&x.out, r, Visit{Gated: x.gated, Member: x.isMember})
	span.End(err)
	if err == nil {
		x.out.begin()
		return
	}
	x.upstreamFailed(r, err)
}

// upstreamFirst makes the upstream answer a request of a route for everything ("/*") if the upstream has a file: files come before the
// Worker. A page does not count as a file, since a dev server has one for any path, unless the request has its name.
func (x *exchange) upstreamFirst(d decision) (answered bool) {
	if x.serving.revision.Upstream == nil || d.route != "/*" || !readOnly(x.r.Method) {
		return false
	}
	r := x.workerRequest()
	look := &firstLook{recorder: &x.out, header: http.Header{}, named: strings.HasSuffix(x.path.decoded, ".html")}
	err := x.serving.revision.Upstream.Serve(look, r, Visit{Gated: x.gated, Member: x.isMember})
	if err != nil {
		x.source = FromUpstream
		x.upstreamFailed(r, err)
		return true
	}
	if look.passed {
		x.source = FromUpstream
	}
	return look.passed
}

// firstLook passes a response on if it is a file, and discards any other.
type firstLook struct {
	*recorder

	header  http.Header
	named   bool // the request has the page's name
	decided bool
	passed  bool
}

// Header implements http.ResponseWriter.
func (l *firstLook) Header() http.Header {
	if l.passed {
		return l.recorder.Header()
	}
	return l.header
}

// WriteHeader decides whether the response is a file.
func (l *firstLook) WriteHeader(status int) {
	if !l.decided && (status >= http.StatusOK || status == http.StatusSwitchingProtocols) {
		l.decided = true
		isPage := strings.HasPrefix(l.header.Get("Content-Type"), "text/html")
		good := status < http.StatusMultipleChoices || status == http.StatusNotModified
		if l.passed = good && (!isPage || l.named); l.passed {
			maps.Copy(l.recorder.Header(), l.header)
		}
	}
	if l.passed {
		l.recorder.WriteHeader(status)
	}
}

// Write passes a file on.
func (l *firstLook) Write(p []byte) (int, error) {
	if !l.decided {
		l.WriteHeader(http.StatusOK)
	}
	if !l.passed {
		return len(p), nil
	}
	return l.recorder.Write(p)
}

// ReadFrom passes a file on.
func (l *firstLook) ReadFrom(src io.Reader) (int64, error) {
	return io.Copy(struct{ io.Writer }{l}, src)
}

// Flush sends the buffered bytes of a file.
func (l *firstLook) Flush() {
	if l.passed {
		l.recorder.Flush()
	}
}

// Hijack takes over the connection.
func (l *firstLook) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	l.decided, l.passed = true, true
	return l.recorder.Hijack()
}

// upstreamFailed responds to an error of the upstream.
func (x *exchange) upstreamFailed(r *http.Request, err error) {
	if x.out.status != 0 {
		x.failure = err.Error()
		panic(http.ErrAbortHandler) // a partial response must not look complete
	}
	clear(x.out.Header())
	if refusal, ok := errors.AsType[*RefusalError](err); ok {
		if refusal.Status == http.StatusUnauthorized {
			x.out.Header().Set("WWW-Authenticate", "Pages-Session")
		}
		x.refuse(refusal)
		return
	}
	x.failure = err.Error()
	if page := x.site.options.ErrorPage; page != nil && loopback.ExternalOf(x.r.Context()) == nil {
		page(&x.out, r, err)
		return
	}
	x.out.Header().Set("Retry-After", "2")
	x.refuse(refuse(http.StatusBadGateway, "upstream_failed", "the site's dev server does not answer"))
}

// askUpstream answers a Worker that requests a file, on behalf of its visitor.
func (x *exchange) askUpstream(upstream Upstream) {
	r := x.r.Clone(x.r.Context())
	r.URL, r.RequestURI = x.path.sentURL(), x.path.Sent()
	visit := Visit{Gated: x.gated, Member: func() bool { return false }}
	if outer := exchangeFrom(r.Context()); outer != nil {
		r.Host, r.RemoteAddr, visit.Member = outer.r.Host, outer.r.RemoteAddr, outer.isMember
	}
	if err := upstream.Serve(&x.out, r, visit); err != nil && x.out.status == 0 {
		clear(x.out.Header())
		x.out.WriteHeader(http.StatusBadGateway)
	}
}

// isMember reports whether the visitor may see members pages.
func (x *exchange) isMember() bool {
	who, err := x.signedInMember()
	if err != nil {
		x.site.options.Logger.Error("session not read", "error", err)
	}
	return err == nil && who != nil && x.site.isMember(x.r.Context(), *who)
}

// keepAsIs stops the writers around a response from adding an element to it.
func keepAsIs(w http.ResponseWriter) {
	for w != nil {
		if writer, ok := w.(asIs); ok {
			writer.KeepAsIs()
		}
		inner, ok := w.(interface{ Unwrap() http.ResponseWriter })
		if !ok {
			return
		}
		w = inner.Unwrap()
	}
}
