package fetch

import (
	"context"
	"errors"
	"fmt"

	"github.com/pages-toolchain/pages/runtime/engine"
)

// Funcs returns the host functions of fetch. session returns that of the request on whose
// behalf a call is made; an error means that none is served.
func Funcs(session func(*engine.Call) (*Session, error)) map[string]engine.Func {
	return map[string]engine.Func{
		// fetch_start(token, method, url, headers, redirect, text or bytes or null,
		// handle or -1, streamed, length of those two or -1, integrity, whether the answer's body
		// stays encoded) -> a promise of [status, status text, url without its fragment, redirected, headers, handle or -1]
		"fetch_start": func(c *engine.Call) (any, error) {
			s, err := session(c)
			if err != nil {
				return nil, err
			}
			return s.begin(c)
		},
		// fetch_abort(token)
		"fetch_abort": func(c *engine.Call) (any, error) {
			if f := outboundOf(session, c); f != nil {
				f.Stop(errFetchAborted)
			}
			return engine.Undefined, nil
		},
		// fetch_upload(token, bytes) -> a promise, settled when they are sent
		"fetch_upload": func(c *engine.Call) (any, error) {
			f := outboundOf(session, c)
			if f == nil || f.upload == nil {
				return nil, errUploadOver
			}
			b := c.Bytes(1)
			return engine.Async(func(context.Context) (any, error) {
				if _, err := f.upload.Write(b); err != nil {
					return nil, errUploadOver
				}
				return engine.Undefined, nil
			}), nil
		},
		// fetch_upload_end(token, what went wrong or null)
		"fetch_upload_end": func(c *engine.Call) (any, error) {
			f := outboundOf(session, c)
			if f == nil || f.upload == nil {
				return engine.Undefined, nil
			}
			return engine.Undefined, f.upload.CloseWithError(uploadError(c))
		},
	}
}

func outboundOf(session func(*engine.Call) (*Session, error), c *engine.Call) *Outbound {
	s, err := session(c)
	if err != nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.fetches[c.Int(0)]
}

var (
	errFetchAborted = &engine.Error{Name: "AbortError", Message: "The operation was aborted"}
	errUploadOver   = errors.New("the request's body is not read any more")
)

// uploadError is what went wrong with a body that JavaScript streams; nil is its end.
func uploadError(c *engine.Call) error {
	if c.IsNullish(1) {
		return nil
	}
	return fmt.Errorf("the request's body failed: %s", c.String(1))
}

// begin starts a fetch.
func (s *Session) begin(c *engine.Call) (any, error) {
	f := &Outbound{
		method: c.String(1), url: c.String(2), header: c.Strings(3), redirect: c.String(4), integrity: c.String(9), manual: c.Bool(10),
	}
	if err := f.setBody(s.IO, c); err != nil {
		return nil, err
	}
	s.start(f, c)
	if f.upload != nil { // what waits to be sent waits no longer than for the end
		context.AfterFunc(f.ctx, func() { f.upload.CloseWithError(errUploadOver) })
	}
	return engine.Async(func(context.Context) (any, error) {
		value, err := s.run(f)
		if err != nil {
			f.Stop(err)
			if f.upload != nil {
				f.upload.CloseWithError(err)
			}
			return nil, f.Error(err)
		}
		return value, nil
	}), nil
}

// run follows redirects to the answer.
func (s *Session) run(f *Outbound) (any, error) {
	resp, redirected, err := s.Follow(f, s.hop) //nolint:bodyclose // answer closes it
	if err != nil {
		return nil, err
	}
	return s.Response(f, resp, redirected)
}
