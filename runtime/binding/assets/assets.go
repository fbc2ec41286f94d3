// Package assets lets a Worker fetch the static files of its own site.
//
// In: the requests of Fetcher.fetch in JavaScript, GET and HEAD alone, and the http.Handler that serves the files. Out: the
// response; a small body is passed at once, a larger one is a stream. A panic of the handler fails only its request. Safe
// for concurrent use.
//
// A Worker can read every file of its site: the members gate guards requests from outside only.
package assets

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/pages-toolchain/pages/runtime/binding/hostcall"
	"github.com/pages-toolchain/pages/runtime/engine"
	"github.com/pages-toolchain/pages/runtime/trace"
)

const (
	// maxParallel is the number of concurrent fetches of an isolate; others wait. Each may hold hostcall.InlineBytes.
	maxParallel = 32
	// streamChunk is the number of bytes of a larger asset that are gathered for a read.
	streamChunk = 64 << 10
)

// Funcs are the host functions of assets.js.
func Funcs(open *hostcall.Handles, assets func(id string) http.Handler) map[string]engine.Func {
	slots := make(chan struct{}, maxParallel)
	return map[string]engine.Func{
		// assets_fetch(id, method, url, headers) is {status, statusText, headers, body}: bytes or a handle.
		"assets_fetch": func(c *engine.Call) (any, error) {
			id := c.String(0)
			handler := assets(id)
			if handler == nil {
				return nil, hostcall.NotBound("assets", id)
			}
			scope := c.Context()
			r, err := newRequest(scope, c.String(1), c.String(2), c.Strings(3))
			if err != nil {
				return nil, err
			}
			span := StartSpan(scope, c.String(1), c.String(2))
			return hostcall.TracedAsync(func(ctx context.Context) (any, error) {
				select {
				case slots <- struct{}{}:
				case <-ctx.Done():
					return nil, ctx.Err()
				}
				defer func() { <-slots }()
				response, err := fetch(ctx, Handler(handler), r)
				if err != nil {
					return nil, err
				}
				span.Set(trace.Int(trace.StatusCode, int64(response.status)))
				content, err := open.SendBody(scope, response.body)
				if err != nil {
					return nil, hostcall.WorkerError(err)
				}
				headers := []string{} // name, value, name, value …
				for name, values := range response.header {
					for _, value := range values {
						headers = append(headers, name, value)
					}
				}
				return engine.Object{
					{Name: "status", Value: response.status},
					{Name: "statusText", Value: http.StatusText(response.status)},
					{Name: "headers", Value: headers},
					{Name: "body", Value: content},
				}, nil
			}, span), nil
		},
	}
}

// StartSpan begins the span of a fetch of a file.
func StartSpan(ctx context.Context, method, url string) trace.Active {
	recorder := trace.From(ctx)
	if recorder == nil {
		return trace.Active{}
	}
	return recorder.Start("assets_fetch", trace.Text(trace.RequestMethod, method), trace.URL(trace.FullURL, url))
}

// Handler serves files like the binding of a Worker: only GET and HEAD, with the cache headers of the cache in front of a site's files.
func Handler(files http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		marking := &markingWriter{ResponseWriter: w, request: r}
		files.ServeHTTP(marking, r)
		if !marking.marked { // a response to HEAD
			marking.WriteHeader(http.StatusOK)
		}
	})
}

// markingWriter marks the head of a file, as opposed to a redirect or a refusal.
type markingWriter struct {
	http.ResponseWriter

	request *http.Request
	marked  bool
}

// WriteHeader implements http.ResponseWriter.
func (w *markingWriter) WriteHeader(status int) {
	if status >= http.StatusOK && !w.marked {
		w.marked = true
		if h := w.Header(); h.Get("ETag") != "" {
			h.Set("Cf-Cache-Status", "HIT")
			if w.request.Header.Get("Authorization") != "" || w.request.Header.Get("Range") != "" {
				h.Del("Cache-Control")
			}
		}
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (w *markingWriter) Write(p []byte) (int, error) {
	if !w.marked {
		w.WriteHeader(http.StatusOK)
	}
	return w.ResponseWriter.Write(p)
}

// Flush implements http.Flusher.
func (w *markingWriter) Flush() {
	if !w.marked {
		w.WriteHeader(http.StatusOK)
	}
	_ = http.NewResponseController(w.ResponseWriter).Flush()
}

// Unwrap returns the ResponseWriter for http.ResponseController.
func (w *markingWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// newRequest makes a server's request from these parts. The handler decides about a target with an invalid escape.
func newRequest(ctx context.Context, method, target string, headers []string) (*http.Request, error) {
	target, _, _ = strings.Cut(target, "#")
	scheme, rest, _ := strings.Cut(target, "://")
	authority, path, _ := strings.Cut(rest, "/")
	r, err := http.NewRequestWithContext(ctx, method, scheme+"://"+authority+"/", http.NoBody)
	if err != nil {
		return nil, engine.TypeError("Invalid request: %v", err)
	}
	r.RequestURI = "/" + path
	if at, err := url.ParseRequestURI(r.RequestURI); err == nil {
		r.URL.Path, r.URL.RawPath, r.URL.RawQuery = at.Path, at.RawPath, at.RawQuery
	} else {
		r.URL.Path, r.URL.RawQuery, _ = strings.Cut(r.RequestURI, "?")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	return r, nil
}

type response struct {
	status int
	header http.Header
	body   hostcall.Body
}

// fetch runs the handler until it returns, flushes or has written more than hostcall.InlineBytes; the rest is read while it
// runs. The handler ends with the request's context, or when the body is closed.
func fetch(ctx context.Context, handler http.Handler, r *http.Request) (*response, error) {
	reader, writer := io.Pipe()
	w := &responseWriter{header: http.Header{}, pipe: writer, ready: make(chan struct{})}
	go func() {
		defer func() {
			var err error
			switch p := recover().(type) {
			case nil:
			case error:
				err = fmt.Errorf("the assets handler stopped: %w", p)
			default:
				err = fmt.Errorf("the assets handler stopped: %v", p)
			}
			w.end(err)
		}()
		handler.ServeHTTP(w, r)
	}()
	select {
	case <-w.ready:
	case <-ctx.Done():
	}
	if err := ctx.Err(); err != nil { // even if the handler ended because of it
		_ = reader.CloseWithError(err)
		return nil, err
	}
	if w.err != nil {
		return nil, w.err
	}
	buffered := bytes.NewReader(w.buffer.Bytes())
	if w.complete {
		return &response{w.status, w.sent, &bufferedBody{buffered}}, nil
	}
	return &response{w.status, w.sent, &pipedBody{io.MultiReader(buffered, reader), reader}}, nil
}

// responseWriter buffers the first bytes of a response, and passes the rest through a pipe. The handler's goroutine owns it;
// the reader may look at status, sent, buffer, complete and err once ready is closed.
type responseWriter struct {
	header http.Header
	pipe   *io.PipeWriter
	rest   *bufio.Writer // of the pipe, so that many small writes are few reads; nil before it is used
	ready  chan struct{}

	status    int
	sent      http.Header // a copy from the moment of the status
	buffer    bytes.Buffer
	streaming bool // the buffer is settled and the rest goes through the pipe
	complete  bool // the buffer holds the whole body
	err       error
}

// Header implements http.ResponseWriter.
func (w *responseWriter) Header() http.Header { return w.header }

// WriteHeader implements http.ResponseWriter.
func (w *responseWriter) WriteHeader(status int) {
	if w.status != 0 || status < 200 {
		return
	}
	w.status, w.sent = status, w.header.Clone()
}

// Write implements http.ResponseWriter.
func (w *responseWriter) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	if !w.streaming && w.buffer.Len()+len(p) <= hostcall.InlineBytes {
		return w.buffer.Write(p)
	}
	w.startStreaming()
	return w.rest.Write(p)
}

// Flush implements http.Flusher.
func (w *responseWriter) Flush() {
	w.WriteHeader(http.StatusOK)
	w.startStreaming()
	_ = w.rest.Flush()
}

func (w *responseWriter) startStreaming() {
	if !w.streaming {
		w.streaming = true
		w.rest = bufio.NewWriterSize(w.pipe, streamChunk)
		close(w.ready)
	}
}

func (w *responseWriter) end(err error) {
	w.WriteHeader(http.StatusOK)
	if w.streaming {
		err = cmp.Or(err, w.rest.Flush())
	} else {
		w.streaming, w.complete, w.err = true, true, err
		close(w.ready)
	}
	_ = w.pipe.CloseWithError(err)
}

type bufferedBody struct{ *bytes.Reader }

// Len implements body.
func (m *bufferedBody) Len() int64 { return int64(m.Reader.Len()) }

// Close implements body.
func (m *bufferedBody) Close() error { return nil }

type pipedBody struct {
	io.Reader
	pipe *io.PipeReader
}

// Len implements body.
func (p *pipedBody) Len() int64 { return -1 }

// Close implements body; the writer's next write fails.
func (p *pipedBody) Close() error { return p.pipe.CloseWithError(errors.New("the body was cancelled")) }
