package fetch

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/pages-toolchain/pages/runtime/engine"
)

// The platform's own figures are not shown.
const (
	// maxDepth is the maximum number of requests of a site to itself that may be nested; 16 is the limit of Workers.
	maxDepth = 16
	// maxSelf is the maximum number of requests of a site to itself within one client's request. With maxDepth
	// alone, each nested request could make as many again.
	maxSelf = 1000
)

// fetchSelf sends r through the site's own front door, as any client's request.
func (s *Session) fetchSelf(r *http.Request) (*http.Response, error) {
	if !s.client.o.StrictlyPublic || s.client.o.Self == nil {
		return nil, engine.TypeError("fetch to %q is the site itself, and has no other origin; "+
			"the compatibility flag global_fetch_strictly_public sends it through the front door", r.URL.Host)
	}
	if s.lineage.depth >= maxDepth {
		return nil, &engine.Error{
			Name: "Error", Message: fmt.Sprintf("Subrequest depth limit exceeded: the site fetched itself %d times over", maxDepth),
		}
	}
	if s.lineage.all.Add(1) > maxSelf {
		return nil, &engine.Error{
			Name:    "Error",
			Message: fmt.Sprintf("Too many subrequests: the site fetched itself %d times within one visitor's request", maxSelf),
		}
	}
	r = r.WithContext(context.WithValue(r.Context(), lineageKey{}, lineage{s.lineage.depth + 1, s.lineage.all}))
	r.RequestURI = r.URL.RequestURI()
	if r.Header.Get("User-Agent") == "" {
		delete(r.Header, "User-Agent") // it was there for net/http alone
	}
	r.RemoteAddr = "127.0.0.1:0"
	r.Proto, r.ProtoMajor, r.ProtoMinor = "HTTP/1.1", 1, 1
	if r.Body == nil {
		r.Body = http.NoBody
	}
	w := &pipeWriter{header: http.Header{}, ready: make(chan struct{}), r: r}
	w.in, w.out = io.Pipe()
	s.client.work.Go(func() { w.serve(s.client.o.Self, r) }) // ends with the request's context, which the scope ends
	select {
	case <-w.ready:
		return w.resp, w.err
	case <-r.Context().Done():
		return nil, context.Cause(r.Context())
	}
}

// TooMany is the error of an outbound request over the limit of one request.
func TooMany(limit int) *engine.Error {
	message := fmt.Sprintf("Too many subrequests: limits.subRequests allows %d for one request, redirects counted", limit)
	return &engine.Error{Name: "Error", Message: message}
}

// pipeWriter is an http.ResponseWriter whose response is read while it is written.
type pipeWriter struct {
	header http.Header
	once   sync.Once
	ready  chan struct{} // closed when resp or err is set
	resp   *http.Response
	err    error
	r      *http.Request
	in     *io.PipeReader
	out    *io.PipeWriter
}

func (w *pipeWriter) serve(handler http.Handler, r *http.Request) {
	err := io.EOF
	defer func() {
		if p := recover(); p != nil { // http.ErrAbortHandler is a panic by design
			err = fmt.Errorf("the site broke off its response: %v", p)
			w.once.Do(func() {
				w.err = err
				close(w.ready)
			})
		}
		w.WriteHeader(http.StatusOK)
		w.out.CloseWithError(err)
	}()
	defer context.AfterFunc(r.Context(), func() {
		w.in.CloseWithError(context.Cause(r.Context()))
	})()
	handler.ServeHTTP(w, r)
}

// Header implements http.ResponseWriter.
func (w *pipeWriter) Header() http.Header { return w.header }

// WriteHeader implements http.ResponseWriter.
func (w *pipeWriter) WriteHeader(status int) {
	if status < http.StatusOK {
		return // informational
	}
	w.once.Do(func() {
		header := w.header.Clone()
		maps.DeleteFunc(header, func(_ string, values []string) bool { return values == nil })
		w.resp = &http.Response{
			Status: fmt.Sprintf("%d %s", status, http.StatusText(status)), StatusCode: status,
			Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: header, Body: w.in, ContentLength: -1, Request: w.r,
		}
		close(w.ready)
	})
}

// Write implements http.ResponseWriter.
func (w *pipeWriter) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.out.Write(p)
}

// Flush implements http.Flusher: writes are never buffered.
func (w *pipeWriter) Flush() { w.WriteHeader(http.StatusOK) }

// lineage counts how often the site fetched itself, on the way to a request and within the client's.
type lineage struct {
	depth int
	all   *atomic.Int64
}

type lineageKey struct{}

func lineageOf(ctx context.Context) lineage {
	if l, ok := ctx.Value(lineageKey{}).(lineage); ok {
		return l
	}
	return lineage{all: &atomic.Int64{}}
}

// Depth is the number of times that the site fetched itself before a request with ctx.
func Depth(ctx context.Context) int { return lineageOf(ctx).depth }
