package wire

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/pages-toolchain/pages/runtime/binding/assets"
	"github.com/pages-toolchain/pages/runtime/web/cache"
	"github.com/pages-toolchain/pages/runtime/web/fetch"
)

// fileService serves the files of a site.
func fileService(files http.Handler) func(ctx context.Context, c *call) error {
	handler := assets.Handler(files)
	return func(ctx context.Context, c *call) error {
		scheme := cmp.Or(c.r.Header.Get(protoHeader), "http")
		c.span = assets.StartSpan(ctx, c.r.Method, scheme+"://"+c.r.Host+c.r.RequestURI)
		return c.pass(ctx, handler)
	}
}

// serveSite serves a request to the site's own front door.
func (h *Handler) serveSite(ctx context.Context, c *call) error {
	select {
	case h.site <- struct{}{}:
		defer func() { <-h.site }()
	default:
		return refuse(http.StatusLoopDetected,
			"Subrequest depth limit exceeded: %d requests of the site to itself are in progress", maxSite)
	}
	if h.o.Subrequest != nil {
		if err := h.o.Subrequest(ctx); err != nil {
			return err
		}
	}
	return c.pass(ctx, h.o.FrontDoor)
}

// serveOutbound makes an outbound request.
func (h *Handler) serveOutbound(ctx context.Context, c *call) error {
	c.record.Method, c.record.Request = c.r.Method, c.r.Header.Get(fetch.IDHeader)
	at := *c.r.URL
	at.User = nil
	c.record.URL = at.String()
	select {
	case h.outbound <- struct{}{}:
		defer func() { <-h.outbound }()
	default:
		return refuse(http.StatusServiceUnavailable,
			"fetch to %q is refused: %d requests of the site are in progress", c.record.URL, cap(h.outbound))
	}
	return c.pass(ctx, h.o.Outbound)
}

// serveCache serves a call of a cache.
func (h *Handler) serveCache(ctx context.Context, c *call) error {
	c.record.URL = c.r.RequestURI
	if name, err := url.PathUnescape(c.r.Header.Get("Cf-Cache-Namespace")); err == nil {
		c.name = name
	}
	select {
	case h.caching <- struct{}{}:
		defer func() { <-h.caching }()
	default:
		return refuse(http.StatusServiceUnavailable, "%d calls of caches are in progress", cap(h.caching))
	}
	method, ok := cacheMethods[c.r.Method]
	if ok {
		c.span = cache.StartSpan(ctx, method, c.r.RequestURI)
	}
	err := c.pass(ctx, h.o.Caches)
	if ok {
		c.record.Method = method
	}
	return err
}

var cacheMethods = map[string]string{ //nolint:gochecknoglobals // a table
	http.MethodGet: "match", http.MethodPut: "put", "PURGE": "delete",
}

// pass passes the request to a handler, in the form that a server of that host would get.
func (c *call) pass(ctx context.Context, handler http.Handler) (err error) {
	c.arrival.done()
	c.record.Method = c.r.Method
	r := c.r.Clone(ctx)
	for name := range r.Header {
		if strings.HasPrefix(name, headerPrefix) && (c.kind != "outbound" || name != fetch.IDHeader) {
			delete(r.Header, name)
		}
	}
	if c.kind != "outbound" && c.kind != "cache" {
		r.URL.Scheme, r.URL.Host = "http", r.Host
		if c.r.Header.Get(protoHeader) == "https" {
			r.URL.Scheme = "https"
		}
	}
	r.RemoteAddr = "127.0.0.1:0"
	defer func() {
		if p := recover(); p == http.ErrAbortHandler { //nolint:errorlint // a value by design
			err = errCut
		} else if p != nil {
			panic(p)
		}
	}()
	handler.ServeHTTP(&passingWriter{ResponseWriter: c.w, c: c}, r)
	return nil
}

// passingWriter records that the response has begun.
type passingWriter struct {
	http.ResponseWriter

	c *call
}

// WriteHeader implements http.ResponseWriter.
func (w *passingWriter) WriteHeader(status int) {
	if status >= http.StatusOK {
		w.c.wrote, w.c.record.Status = true, status
	}
	if refusal := w.Header().Get(fetch.RefusalHeader); refusal != "" && w.c.kind == "outbound" {
		w.c.record.Err = fetch.Refused(refusal)
	}
	if reason := w.Header().Get(cache.ReasonHeader); reason != "" && w.c.kind == "cache" {
		w.c.record.Err = fmt.Sprintf("the response for %s is not kept: %s", w.c.record.URL, reason)
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (w *passingWriter) Write(p []byte) (int, error) {
	if !w.c.wrote {
		w.c.wrote, w.c.record.Status = true, http.StatusOK
	}
	return w.c.write(p)
}

// Hijack implements http.Hijacker.
func (w *passingWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffered, err := w.c.control.Hijack()
	if err == nil {
		w.c.wrote, w.c.record.Status = true, http.StatusSwitchingProtocols
	}
	return conn, buffered, err
}

// Unwrap returns the ResponseWriter for http.ResponseController.
func (w *passingWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
