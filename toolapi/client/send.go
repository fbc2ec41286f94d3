package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
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

// This file sends one request, again where that is safe, and reads its answer. When
// to repeat follows the upload protocol (section 2.6): connection errors, 408, 429,
// 500, 502, 503 and 504, with full jitter from 250 ms to 8 s, until the client's
// patience has passed without progress. No other status is ever repeated.

const (
	// maxAnswer is as much of an answer as is read.
	maxAnswer = 16 << 20
	// maxRefusal is as much of a refusal as is read.
	maxRefusal = 1 << 20

	// longestWait is as much as a wait is taken for, in seconds: nobody waits so long, and a
	// time.Duration holds it.
	longestWait = 1 << 30

	// toldTries is after how many tries a person is told that there will be more.
	toldTries = 3

	firstPause = 250 * time.Millisecond
	longPause  = 8 * time.Second
)

// request is one request, which may be sent several times.
type request struct {
	method, path string
	query        url.Values
	header       http.Header
	// body opens the body anew for each try; nil for none.
	body func() (io.ReadCloser, error)
	size int64
	// safe says that the request may be sent again when its answer was lost.
	safe bool
	// work is how long the service may work without a byte, beyond Options.Idle.
	work   time.Duration
	window *window
	// patient gives the request the patience of an upload.
	patient bool
	// since is when there last was progress; nil for when the request began.
	since func() time.Time
	limit int64 // longest answer; 0 for maxAnswer
	// busy is told of every try that is to be repeated.
	busy func()
}

// response is what a request was answered with.
type response struct {
	status int
	header http.Header
	body   []byte
	id     string // request id, as the service gave it
}

// jsonBody is a body that is held in memory.
func jsonBody(text []byte) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) { return Whole{bytes.NewReader(text)}, nil }
}

// Whole is a body that is in memory. A short one is sent in one piece with the head of
// its request; net/http sends the head of any other by itself, and first.
type Whole struct{ *bytes.Reader }

// Close implements io.Closer.
func (Whole) Close() error { return nil }

// send sends r until it is answered or patience ends.
func (c *Client) send(ctx context.Context, r request) (response, error) {
	began, id, pause := c.o.Now(), newID(), firstPause
	since := func() time.Time { return began }
	if r.since != nil {
		since = r.since
	}
	for n := 1; ; n++ {
		if err := r.window.acquire(ctx); err != nil {
			return response{}, withID(err, id)
		}
		a, err := c.sendOnce(ctx, r, id)
		wait, again := c.retryDelay(r, err, &pause)
		if !again || ctx.Err() != nil {
			return a, cmpErr(ctx, err)
		}
		patience := c.o.CallPatience
		if r.patient || a.status == http.StatusTooManyRequests {
			patience = c.o.Patience
		}
		if c.o.Now().Add(wait).Sub(since()) > patience {
			return a, err
		}
		if n == toldTries && (a.status != http.StatusTooManyRequests || wait < shownWait) {
			c.warn("%v; trying again for up to %d s", err, seconds(patience))
		}
		if r.busy != nil {
			r.busy()
		}
		if err := c.o.Sleep(ctx, wait); err != nil {
			return response{}, err
		}
	}
}

// cmpErr is why ctx ended, if it did, rather than how a request noticed it.
func cmpErr(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

func withID(err error, id string) error {
	if status, ok := errors.AsType[*StatusError](err); ok && status.RequestID == "" {
		status.RequestID = id
	}
	return err
}

// retryDelay says whether to send r again, and when.
func (c *Client) retryDelay(r request, err error, pause *time.Duration) (wait time.Duration, ok bool) {
	lost, isLost := errors.AsType[*TransportError](err)
	if name, ok := errors.AsType[*net.DNSError](err); ok && name.IsNotFound || isLost && lost.Untrusted() {
		return 0, false // it will not be another in a moment either
	}
	refused, isRefused := errors.AsType[*StatusError](err)
	switch {
	case isLost && (r.safe || !lost.Reached):
	case isRefused && refused.Status == http.StatusTooManyRequests:
		wait := time.Duration(max(refused.RetryAfter, 1)) * time.Second
		if wait >= shownWait {
			c.warn("the service asks to wait %d s", seconds(wait))
		}
		return wait, true
	case isRefused && isTemporary(refused.Status) && (r.safe || refused.Code == toolapi.CodeUnavailable || refused.Code == codeUnavailable):
		if refused.RetryAfter > 0 {
			return time.Duration(refused.RetryAfter) * time.Second, true
		}
	default:
		return 0, false
	}
	wait = jitter(*pause)
	*pause = min(2**pause, longPause)
	return wait, true
}

// codeUnavailable is how uploads are refused while the service shuts down: nothing ran.
const codeUnavailable = "unavailable"

func isTemporary(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusTooManyRequests, http.StatusInternalServerError,
		http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

// errStalled ends a try that has gone without a byte for too long.
var errStalled = errors.New("nothing came or went for too long")

// sendOnce sends r once. Its error is nil for 2xx only.
func (c *Client) sendOnce(ctx context.Context, r request, id string) (a response, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	idle := c.idle(r)
	watch := time.AfterFunc(idle, func() { cancel(errStalled) })
	defer watch.Stop()
	var reached atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteHeaders: func() { reached.Store(true) }})
	fail := func(err error) (response, error) {
		r.window.readHeaders(nil)
		if cause := context.Cause(ctx); errors.Is(cause, errStalled) {
			err = cause
		}
		return response{}, &TransportError{Reached: reached.Load(), RequestID: id, Err: c.withoutAddress(err)}
	}
	hr, err := c.build(ctx, r, id, func(int) { watch.Reset(idle) })
	if err != nil {
		r.window.readHeaders(nil)
		return response{}, err
	}
	resp, err := c.http.Do(hr)
	if err != nil {
		if local, ok := errors.AsType[*BodyError](err); ok {
			r.window.readHeaders(nil)
			return response{}, local
		}
		return fail(err)
	}
	defer resp.Body.Close()
	a = response{status: resp.StatusCode, header: resp.Header, id: id}
	if given, ok := toolapi.RequestID(resp.Header); ok {
		a.id = given
	}
	limit := r.limit
	if limit == 0 {
		limit = maxAnswer
	}
	if a.status >= http.StatusBadRequest {
		limit = min(limit, maxRefusal)
	}
	watch.Reset(c.o.Idle)
	part := 0 // of an answer, since the watch was set: one in drips would be waited for for ever
	a.body, err = io.ReadAll(io.LimitReader(&watched{resp.Body, func(n int) {
		if part += n; part >= int(c.o.Idle.Seconds()*slowestAnswer) {
			part = 0
			watch.Reset(c.o.Idle)
		}
	}, nil}, limit+1))
	if err != nil {
		return fail(err)
	}
	r.window.readHeaders(resp.Header)
	c.warnDeprecated(r, resp.Header)
	if int64(len(a.body)) > limit {
		return a, &ContractError{a.status, "is longer than any the contract has", a.id}
	}
	return a, c.checkStatus(a)
}

// slowest is what a connection carries at least, in bytes a second, and slowestAnswer how fast an
// answer comes at least; buffered is how much of a body may be on its way after its last byte was read.
const (
	slowest       = 32 << 10
	slowestAnswer = 4 << 10
	buffered      = 4 << 20
)

func (c *Client) idle(r request) time.Duration {
	return c.o.Idle + r.work + time.Duration(min(r.size, buffered))*time.Second/slowest
}

// build makes the request of one try.
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
		whole, inMemory := opened.(Whole)
		switch {
		case r.size == 0:
			_ = opened.Close() // of a file that was only read
			body = http.NoBody
		case inMemory && r.size <= buffered: // idle allows for as much
			body = whole.Reader
		default:
			body = &watched{opened, moved, func(err error) error { return &BodyError{err} }}
		}
	}
	hr, err := http.NewRequestWithContext(ctx, r.method, u.String(), body)
	if err != nil {
		return nil, err
	}
	hr.GetBody = nil // whether it is sent again is decided here
	if r.size > 0 {
		hr.ContentLength = r.size
	}
	maps.Copy(hr.Header, r.header)
	hr.Header.Set("Accept", "application/json")
	hr.Header.Set("User-Agent", c.agent)
	hr.Header.Set(toolapi.HeaderRequestID, id)
	if c.key != "" {
		hr.Header.Set("Authorization", "Bearer "+c.key)
	}
	return hr, nil
}

// BodyError is a body that could not be read on this side.
type BodyError struct{ Err error }

func (e *BodyError) Error() string { return e.Err.Error() }
func (e *BodyError) Unwrap() error { return e.Err }

// watched tells how many bytes came, and marks errors as its own.
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

// withoutAddress is an error of the transport without the address, which the message before it
// names.
func (c *Client) withoutAddress(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err
	}
	if e, ok := errors.AsType[*net.OpError](err); ok && e.Op == "dial" {
		return fmt.Errorf("%s: %w", c.base.Host, e.Err)
	}
	return err
}

// refusalFields are the fields of every refusal by status: at the top, and nested, as
// uploads have them alone.
type refusalFields struct {
	Code       string `json:"code"`
	Message    string `json:"message"`
	RetryAfter int    `json:"retry_after_seconds"`
}

// checkStatus makes an error of a status that is no success.
func (c *Client) checkStatus(a response) error {
	if a.status >= http.StatusOK && a.status < http.StatusMultipleChoices {
		return nil
	}
	if a.status < http.StatusOK {
		return &ContractError{a.status, "is none to this request", a.id}
	}
	if a.status >= http.StatusMultipleChoices && a.status < http.StatusBadRequest {
		to := a.header.Get("Location")
		return &ContractError{a.status, "redirects to " + strconv.Quote(c.redact(to)) + ", where the key is not sent", a.id}
	}
	var body struct {
		refusalFields
		Nested refusalFields `json:"error"`
	}
	e := &StatusError{Status: a.status, RequestID: a.id}
	if json.Unmarshal(a.body, &body) == nil {
		fields := body.refusalFields
		if fields.Code == "" {
			fields = body.Nested
		}
		e.Code, e.Message, e.RetryAfter = c.redact(fields.Code), c.redact(fields.Message), fields.RetryAfter
	}
	if n, err := strconv.Atoi(strings.TrimSpace(a.header.Get(toolapi.HeaderRetryAfter))); err == nil && n > 0 {
		e.RetryAfter = n
	}
	e.RetryAfter = min(e.RetryAfter, longestWait)
	return e
}

// warnDeprecated warns once of each thing that an answer says is deprecated.
func (c *Client) warnDeprecated(r request, h http.Header) {
	what, sentence, ok := toolapi.Deprecated(h, c.base)
	if !ok {
		return
	}
	if what == "" {
		what = r.path
	}
	if _, told := c.warned.LoadOrStore(what, true); told {
		return
	}
	c.warn("%s", sentence)
}
