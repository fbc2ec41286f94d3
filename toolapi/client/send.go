package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"mime"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/pages-toolchain/pages/toolapi"
)

// This file sends one request, retries it when that is safe, and reads its response. It retries by
// the upload protocol (section 2.6): after connection errors, 408, 429, 500, 502, 503 and 504, with
// full jitter from 250 ms to 8 s, until the client's retry time has passed without progress. It
// never retries after another status.

const (
	maxResponse = 16 << 20 // bytes of a response that are read
	maxRefusal  = 1 << 20  // and of a refusal

	maxWait = 1 << 30 // seconds; a time.Duration holds it

	warnTries = 3 // further retries are shown to the user

	firstPause = 250 * time.Millisecond
	longPause  = 8 * time.Second
)

// request is one request, which may be sent several times.
type request struct {
	method, path string
	query        url.Values
	header       http.Header
	body         func() (io.ReadCloser, error) // opens the body anew for each try; nil for none
	size         int64
	safe         bool          // safe to send again after a lost response
	work         time.Duration // the time that the service may work without a byte, beyond Options.Idle
	window       *window
	upload       bool             // has the retry time of an upload
	since        func() time.Time // the time of the last progress; nil for the start of the request
	retrying     func()           // called before every retry
	sent         string           // name of the body in messages
}

// httpResponse is a response that was read to its end.
type httpResponse struct {
	status int
	header http.Header
	body   []byte
	id     string // request id, as the service gave it
}

func jsonBody(text []byte) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) { return MemoryBody{bytes.NewReader(text)}, nil }
}

// MemoryBody is a body in memory. A short one is sent together with the head of its request;
// net/http sends the head of other bodies separately.
type MemoryBody struct{ *bytes.Reader }

// Close implements io.Closer.
func (MemoryBody) Close() error { return nil }

// send sends r until it gets a response or the retry time ends.
func (c *Client) send(ctx context.Context, r request) (httpResponse, error) {
	began, id, pause := c.o.Now(), newID(), firstPause
	since := func() time.Time { return began }
	if r.since != nil {
		since = r.since
	}
	for n := 1; ; n++ {
		if err := r.window.acquire(ctx, id); err != nil {
			return httpResponse{}, err
		}
		a, err := c.sendOnce(ctx, r, id)
		wait, again := c.retryDelay(r, a.header, err, &pause)
		if err != nil && ctx.Err() != nil {
			return a, context.Cause(ctx) // instead of the request's own error
		}
		if !again || ctx.Err() != nil {
			return a, err
		}
		retryTime := c.o.CallRetryTime
		if r.upload || a.status == http.StatusTooManyRequests {
			retryTime = c.o.UploadRetryTime
		}
		if c.o.Now().Add(wait).Sub(since()) > retryTime {
			return a, err
		}
		if n == warnTries && (a.status != http.StatusTooManyRequests || wait < shownWait) {
			c.warn("%v; trying again for up to %d s", err, seconds(retryTime))
		}
		if r.retrying != nil {
			r.retrying()
		}
		if err := c.o.Sleep(ctx, wait); err != nil {
			return httpResponse{}, err
		}
	}
}

// retryDelay decides whether and when to send r again.
func (c *Client) retryDelay(r request, h http.Header, err error, pause *time.Duration) (wait time.Duration, ok bool) {
	lost, isLost := errors.AsType[*TransportError](err)
	if name, ok := errors.AsType[*net.DNSError](err); ok && name.IsNotFound || isLost && lost.Untrusted() {
		return 0, false // a retry would not help
	}
	refused, isRefused := errors.AsType[*StatusError](err)
	switch {
	case isLost && (r.safe || !lost.Reached):
	case isRefused && refused.Status == http.StatusTooManyRequests:
		wait := time.Duration(max(refused.RetryAfter, 1)) * time.Second
		if wait >= shownWait {
			c.warn("%s: waiting %d s", usedUp(h), seconds(wait))
		}
		return wait, true
	case isRefused && isTemporary(refused.Status) && (r.safe || refused.Code == toolapi.CodeUnavailable || refused.Code == codeUnavailable):
		if refused.RetryAfter > 0 {
			return time.Duration(refused.RetryAfter) * time.Second, true
		}
	default:
		return 0, false
	}
	wait = rand.N(*pause + 1)
	*pause = min(2**pause, longPause)
	return wait, true
}

// codeUnavailable is the refusal of uploads during the service's shutdown: nothing ran.
const codeUnavailable = "unavailable"

func isTemporary(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusTooManyRequests, http.StatusInternalServerError,
		http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

// errStalled ends an attempt that has moved no bytes for too long.
var errStalled = errors.New("no data was sent or received for too long")

// sendOnce sends r once. Its error is nil for 2xx only.
func (c *Client) sendOnce(ctx context.Context, r request, id string) (a httpResponse, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	idle := c.o.Idle + r.work + time.Duration(min(r.size, buffered))*time.Second/slowest
	stalled := time.AfterFunc(idle, func() { cancel(errStalled) })
	defer stalled.Stop()
	var reached atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteHeaders: func() { reached.Store(true) }})
	via := ""
	fail := func(err error) (httpResponse, error) {
		r.window.readHeaders(nil)
		if cause := context.Cause(ctx); errors.Is(cause, errStalled) {
			err = cause
		}
		// Drop the address, which the message already names.
		if e, ok := errors.AsType[*url.Error](err); ok {
			err = e.Err
		}
		if e, ok := errors.AsType[*net.OpError](err); ok && (e.Op == "dial" || e.Op == "proxyconnect") {
			err = e.Err
			if inner, ok := errors.AsType[*net.OpError](err); ok && inner.Op == "dial" {
				err = inner.Err
			}
			if via == "" {
				err = fmt.Errorf("%s: %w", c.base.Host, err)
			}
		}
		return httpResponse{}, &TransportError{Reached: reached.Load(), RequestID: id, Err: err, Proxy: via}
	}
	hr, err := c.build(ctx, r, id, func(int) { stalled.Reset(idle) })
	if err != nil {
		r.window.readHeaders(nil)
		return httpResponse{}, err
	}
	via = c.proxyOf(hr)
	resp, err := c.http.Do(hr)
	if err != nil {
		if local, ok := errors.AsType[*BodyError](err); ok {
			r.window.readHeaders(nil)
			return httpResponse{}, local
		}
		return fail(err)
	}
	defer resp.Body.Close()
	a = httpResponse{status: resp.StatusCode, header: resp.Header, id: id}
	if given, ok := toolapi.RequestID(resp.Header); ok {
		a.id = given
	}
	limit := int64(maxResponse)
	if a.status >= http.StatusBadRequest {
		limit = maxRefusal
	}
	stalled.Reset(c.o.Idle)
	part := 0 // bytes since stalled was set: a trickling response must not keep the client waiting permanently
	a.body, err = io.ReadAll(io.LimitReader(&watched{resp.Body, func(n int) {
		if part += n; part >= int(c.o.Idle.Seconds()*slowestResponse) {
			part = 0
			stalled.Reset(c.o.Idle)
		}
	}, nil}, limit+1))
	if err != nil {
		return fail(err)
	}
	r.window.readHeaders(resp.Header)
	c.warnDeprecated(r, resp.StatusCode, resp.Header)
	if int64(len(a.body)) > limit {
		return a, &ContractError{a.status, "is longer than the contract allows", a.id}
	}
	return a, c.checkStatus(a, r.sent)
}

// proxyOf returns the proxy that a request takes, without a password; "" for none.
func (c *Client) proxyOf(r *http.Request) string {
	t, ok := c.o.Transport.(*http.Transport)
	if !ok || t.Proxy == nil {
		return ""
	}
	at, err := t.Proxy(r)
	if err != nil || at == nil {
		return ""
	}
	return at.Redacted()
}

const (
	slowest         = 32 << 10 // the lowest rate of a connection, in bytes a second
	slowestResponse = 4 << 10  // and those of a response
	buffered        = 4 << 20  // bytes of a body that can still be in transit after the last read
)

func (c *Client) build(ctx context.Context, r request, id string, moved func(n int)) (*http.Request, error) {
	u := *c.base
	u.Path += r.path
	u.RawQuery = r.query.Encode()
	var body io.Reader
	if r.body != nil {
		opened, err := r.body()
		if err != nil {
			return nil, &BodyError{err}
		}
		whole, inMemory := opened.(MemoryBody)
		switch {
		case r.size == 0:
			_ = opened.Close() // only read
			body = http.NoBody
		case inMemory && r.size <= buffered: // idle is long enough for that
			body = whole.Reader
		default:
			body = &watched{opened, moved, func(err error) error { return &BodyError{err} }}
		}
	}
	hr, err := http.NewRequestWithContext(ctx, r.method, u.String(), body)
	if err != nil {
		return nil, err
	}
	hr.GetBody = nil // this package decides on retries
	if r.size > 0 {
		hr.ContentLength = r.size
	}
	maps.Copy(hr.Header, r.header)
	hr.Header.Set("Accept", "application/json")
	hr.Header.Set("User-Agent", c.o.UserAgent)
	hr.Header.Set(toolapi.HeaderRequestID, id)
	if c.key != "" {
		hr.Header.Set("Authorization", "Bearer "+c.key)
	}
	return hr, nil
}

// BodyError is a body of a request that could not be read.
type BodyError struct{ Err error }

func (e *BodyError) Error() string { return e.Err.Error() }
func (e *BodyError) Unwrap() error { return e.Err }

// watched reports how many bytes were read, and wraps errors with mark.
type watched struct {
	io.ReadCloser
	moved func(n int)
	mark  func(error) error
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.ReadCloser.Read(p)
	if n > 0 {
		w.moved(n)
	}
	if err != nil && !errors.Is(err, io.EOF) && w.mark != nil {
		err = w.mark(err)
	}
	return n, err
}

// refusalFields are the fields of every refusal by status, at the top level and nested; uploads
// have only the nested ones.
type refusalFields struct {
	Code       string `json:"code"`
	Message    string `json:"message"`
	RetryAfter int    `json:"retry_after_seconds"`
}

// checkStatus returns the error of a status other than success.
func (c *Client) checkStatus(a httpResponse, sent string) error {
	if a.status >= http.StatusOK && a.status < http.StatusMultipleChoices {
		return nil
	}
	if a.status < http.StatusOK {
		return &ContractError{a.status, "does not belong to this request", a.id}
	}
	if a.status >= http.StatusMultipleChoices && a.status < http.StatusBadRequest {
		to := a.header.Get("Location")
		return &ContractError{a.status, "redirects to " + strconv.Quote(c.redact(to)) + ", and the client does not send the key " +
			"there", a.id}
	}
	var body struct {
		refusalFields
		Nested refusalFields `json:"error"`
	}
	e := &StatusError{Status: a.status, RequestID: a.id, Sent: sent}
	if json.Unmarshal(a.body, &body) == nil {
		fields := body.refusalFields
		if fields.Code == "" {
			fields = body.Nested
		}
		e.Code, e.Message, e.RetryAfter = c.redact(fields.Code), c.redact(fields.Message), fields.RetryAfter
	}
	if e.Foreign() {
		e.Kind, _, _ = mime.ParseMediaType(a.header.Get("Content-Type")) // "" for none
	}
	if n, err := strconv.Atoi(strings.TrimSpace(a.header.Get(toolapi.HeaderRetryAfter))); err == nil && n > 0 {
		e.RetryAfter = n
	}
	e.RetryAfter = min(e.RetryAfter, maxWait)
	return e
}

// warnDeprecated warns once of each deprecation in a response. It skips refusals: their deprecation concerns only programs that read the
// old fields.
func (c *Client) warnDeprecated(r request, status int, h http.Header) {
	what, sentence, ok := toolapi.Deprecated(h, c.base)
	if !ok || status >= http.StatusBadRequest {
		return
	}
	if what == "" {
		what = r.path
	}
	if _, warned := c.warned.LoadOrStore(what, true); !warned {
		c.warn("%s", sentence)
	}
}
