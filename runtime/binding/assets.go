package binding

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

	"github.com/pages-toolchain/pages/runtime/engine"
)

const (
	// maxAsked is how many assets an isolate asks for at the same moment; others wait. Each
	// may hold what is handed over at once.
	maxAsked = 32
	// passedChunk is how many bytes of a larger one are gathered for a read.
	passedChunk = 64 << 10
)

// assetsFuncs are the host functions of js/assets.js.
func assetsFuncs(open *handles, assets func(id string) http.Handler) map[string]engine.Func {
	asked := make(chan struct{}, maxAsked)
	return map[string]engine.Func{
		// assets_fetch(id, method, url, headers) is {status, statusText, headers,
		// body}: bytes or a handle.
		"assets_fetch": func(c *engine.Call) (any, error) {
			id := c.String(0)
			handler := assets(id)
			if handler == nil {
				return nil, notBound("assets", id)
			}
			scope := c.Context()
			r, err := assetRequest(scope, c.String(1), c.String(2), c.Strings(3))
			if err != nil {
				return nil, err
			}
			return engine.Async(func(ctx context.Context) (any, error) {
				select {
				case asked <- struct{}{}:
				case <-ctx.Done():
					return nil, ctx.Err()
				}
				defer func() { <-asked }()
				answer, err := askAsset(ctx, handler, r)
				if err != nil {
					return nil, err
				}
				content, err := open.hand(scope, answer.body)
				if err != nil {
					return nil, jsError(err)
				}
				return engine.Object{
					{Name: "status", Value: answer.status},
					{Name: "statusText", Value: http.StatusText(answer.status)},
					{Name: "headers", Value: flat(answer.header)},
					{Name: "body", Value: content},
				}, nil
			}), nil
		},
	}
}

// assetRequest is the request a server would make of those parts. A target with
// an escape that is none passes as it is: what to say of it is the handler's.
func assetRequest(ctx context.Context, method, target string, headers []string) (*http.Request, error) {
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

// flat is header as name, value, name, value …
func flat(header http.Header) []string {
	list := []string{}
	for name, values := range header {
		for _, value := range values {
			list = append(list, name, value)
		}
	}
	return list
}

// answer is a response whose body may still be being written.
type answer struct {
	status int
	header http.Header
	body   body
}

// askAsset runs the handler until it has ended, or has flushed or written more
// than is handed over at once; the rest is then read while it runs. The handler ends with the
// request's context, or when the body is closed.
func askAsset(ctx context.Context, handler http.Handler, r *http.Request) (*answer, error) {
	reader, writer := io.Pipe()
	w := &answerWriter{header: http.Header{}, pipe: writer, ready: make(chan struct{})}
	go func() {
		defer func() { w.end(recovered(recover())) }()
		handler.ServeHTTP(w, r)
	}()
	select {
	case <-w.ready:
	case <-ctx.Done():
	}
	if err := ctx.Err(); err != nil { // also when the handler ended because of that
		_ = reader.CloseWithError(err)
		return nil, err
	}
	if w.err != nil {
		return nil, w.err
	}
	a := &answer{status: w.status, header: w.sent}
	if w.whole {
		a.body = &memory{bytes.NewReader(w.buffer.Bytes())}
	} else {
		a.body = &piped{io.MultiReader(bytes.NewReader(w.buffer.Bytes()), reader), reader}
	}
	return a, nil
}

// recovered is a handler's panic as an error.
func recovered(p any) error {
	if p == nil {
		return nil
	}
	if err, ok := p.(error); ok {
		return fmt.Errorf("the assets handler stopped: %w", err)
	}
	return fmt.Errorf("the assets handler stopped: %v", p)
}

// answerWriter keeps the first bytes of a response, and lets the rest pass
// through a pipe. It is the handler's goroutine's; the reader may look at status,
// sent, buffer, whole and err once ready is closed.
type answerWriter struct {
	header http.Header
	pipe   *io.PipeWriter
	rest   *bufio.Writer // of the pipe, so that many small writes are few reads; nil before it is used
	ready  chan struct{}

	status  int
	sent    http.Header // as it was when the status was written
	buffer  bytes.Buffer
	passing bool // the buffer is settled and the rest goes through the pipe
	whole   bool // the buffer is all there is
	err     error
}

// Header implements http.ResponseWriter.
func (w *answerWriter) Header() http.Header { return w.header }

// WriteHeader implements http.ResponseWriter.
func (w *answerWriter) WriteHeader(status int) {
	if w.status != 0 || status < 200 {
		return
	}
	w.status, w.sent = status, w.header.Clone()
}

// Write implements http.ResponseWriter.
func (w *answerWriter) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	if !w.passing && w.buffer.Len()+len(p) <= inline {
		return w.buffer.Write(p)
	}
	w.pass()
	return w.rest.Write(p)
}

// Flush implements http.Flusher: what was written is there to be read.
func (w *answerWriter) Flush() {
	w.WriteHeader(http.StatusOK)
	w.pass()
	_ = w.rest.Flush()
}

// pass ends the buffering.
func (w *answerWriter) pass() {
	if !w.passing {
		w.passing = true
		w.rest = bufio.NewWriterSize(w.pipe, passedChunk)
		close(w.ready)
	}
}

// end settles the response once the handler has returned.
func (w *answerWriter) end(err error) {
	w.WriteHeader(http.StatusOK)
	if w.passing {
		err = cmp.Or(err, w.rest.Flush())
	} else {
		w.passing, w.whole, w.err = true, true, err
		close(w.ready)
	}
	_ = w.pipe.CloseWithError(err)
}

// memory is a body that is all there.
type memory struct{ *bytes.Reader }

// Len implements body.
func (m *memory) Len() int64 { return int64(m.Reader.Len()) }

// Close implements body.
func (m *memory) Close() error { return nil }

// piped is a body that is being written.
type piped struct {
	io.Reader
	pipe *io.PipeReader
}

// Len implements body.
func (p *piped) Len() int64 { return -1 }

// Close implements body; the writer's next write fails.
func (p *piped) Close() error { return p.pipe.CloseWithError(errors.New("the body was cancelled")) }
