package workerd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pages-toolchain/pages/manifest/limits"
	pagesruntime "github.com/pages-toolchain/pages/runtime"
	"github.com/pages-toolchain/pages/runtime/trace"
	"github.com/pages-toolchain/pages/runtime/web"
	"github.com/pages-toolchain/pages/runtime/web/compression"
	"github.com/pages-toolchain/pages/runtime/web/fetch"
)

// This file passes one request to the Worker and writes its response.

// exchange is one request with its response. It lives until its waitUntil promises settle.
type exchange struct {
	id string
	w  *Worker
	p  *process
	r  *http.Request
	rw http.ResponseWriter

	ctx         context.Context //nolint:containedctx // ends with the exchange
	cancel      context.CancelCauseFunc
	subRequests atomic.Int64
	share       share // of the CPU time, guarded by the meter

	wrote bool  // the head
	sent  int64 // bytes of the body

	logs    quota
	mu      sync.Mutex
	waits   bool      // waitUntil was called
	settled bool      // the waitUntil promises have settled, while the handler continues
	gone    bool      // the client has left
	done    bool      // neither the handler nor waitUntil has pending work
	closed  bool      // it ends, since the process has reported no waitUntil
	over    time.Time // when it ended in Go
	ended   chan struct{}
	forgot  chan struct{} // closed when the exchange is over
	again   chan struct{} // closed when it runs again; nil if it cannot
	tunnel  *tunnel       // of a WebSocket
}

// requests are the requests of a Worker by the ids that its process reports.
type requests struct {
	mu   sync.Mutex
	last uint64
	live map[string]*exchange
	past []*exchange // finished requests, the oldest first: their log lines may still arrive
}

const maxPast = 256

func (q *requests) add(w *Worker, p *process, rw http.ResponseWriter, r *http.Request) *exchange {
	x := &exchange{w: w, p: p, r: r, rw: rw, ended: make(chan struct{}), forgot: make(chan struct{})}
	x.ctx, x.cancel = context.WithCancelCause(context.WithoutCancel(r.Context()))
	q.mu.Lock()
	defer q.mu.Unlock()
	q.last++
	x.id = w.front + "-" + strconv.FormatUint(q.last, 10)
	if q.live == nil {
		q.live = map[string]*exchange{}
	}
	q.live[x.id] = x
	return x
}

// reopen continues an exchange that was over.
func (q *requests) reopen(x *exchange) {
	q.mu.Lock()
	defer q.mu.Unlock()
	x.ctx, x.cancel = context.WithCancelCause(context.WithoutCancel(x.r.Context()))
	q.live[x.id] = x
}

// endAgain ends a reopened exchange.
func (q *requests) endAgain(x *exchange) {
	q.mu.Lock()
	defer q.mu.Unlock()
	x.cancel(context.Canceled)
	delete(q.live, x.id)
}

// end moves a finished exchange to past.
func (q *requests) end(x *exchange) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.live, x.id)
	q.past = append(q.past, x)
	if len(q.past) > maxPast {
		q.past = q.past[len(q.past)-maxPast/2:]
	}
}

// outbound is fetch.GatewayOptions.Of. A request without an id comes from a WebSocket or a module of workerd: it counts for the only
// current request.
func (q *requests) outbound(id string) (ctx context.Context, count func() error, ok bool) {
	if ctx, count, ok = q.outboundOf(id); ok {
		return ctx, count, ok
	}
	x := q.of(id)
	if x == nil {
		return nil, nil, false
	}
	// After the response to a ping, all earlier output has been read, such as a waitUntil that keeps the request.
	ctx, cancel := context.WithTimeout(x.w.ctx, settleTime)
	defer cancel()
	if err := x.p.ping(ctx); err != nil {
		return nil, nil, false
	}
	x.mu.Lock()
	again := x.again
	x.mu.Unlock()
	if again == nil {
		return nil, nil, false
	}
	<-again
	return q.outboundOf(id)
}

func (q *requests) outboundOf(id string) (ctx context.Context, count func() error, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if id == "" && len(q.live) > 1 {
		return context.Background(), func() error { return nil }, true //nolint:forbidigo // the request is unknown
	}
	x := q.live[id]
	if id == "" {
		for _, only := range q.live {
			x = only
		}
	}
	if x == nil {
		return nil, nil, false
	}
	return x.ctx, x.countSubRequest, true
}

// recorder is wire.Options.Trace. The clients of workerd name no request with a call of a binding: it belongs to the only request that
// is under way. If there are several, each of them counts the call as one that may be its own.
func (q *requests) recorder(id string) *trace.Recorder {
	q.mu.Lock()
	defer q.mu.Unlock()
	if x := q.live[id]; x != nil {
		return trace.From(x.r.Context())
	}
	if id != "" {
		return nil
	}
	for _, x := range q.live {
		recorder := trace.From(x.r.Context())
		if len(q.live) == 1 {
			return recorder
		}
		recorder.Unassigned()
	}
	return nil
}

// of returns the exchange of an id; nil if it was long ago, or never.
func (q *requests) of(id string) *exchange {
	q.mu.Lock()
	defer q.mu.Unlock()
	if x := q.live[id]; x != nil {
		return x
	}
	for _, x := range q.past {
		if x.id == id {
			return x
		}
	}
	return nil
}

// awaitWaits waits for waitUntil promises that were reported after the end of their requests.
func (q *requests) awaitWaits(ctx context.Context) {
	q.mu.Lock()
	past := append([]*exchange(nil), q.past...)
	q.mu.Unlock()
	for _, x := range past {
		x.mu.Lock()
		open := x.waits && !x.done && x.p.ended() == nil
		x.mu.Unlock()
		if open {
			select {
			case <-x.ended:
			case <-x.p.done:
			case <-ctx.Done():
				return
			}
		}
	}
}

// waits reports whether p still waits, in time, for a waitUntil of a finished request.
func (q *requests) waits(p *process) bool {
	q.mu.Lock()
	past := append([]*exchange(nil), q.past...)
	q.mu.Unlock()
	return slices.ContainsFunc(past, func(x *exchange) bool {
		x.mu.Lock()
		defer x.mu.Unlock()
		return x.p == p && x.waits && !x.done && time.Since(x.over) < pagesruntime.WaitUntilTime
	})
}

func (q *requests) all() (all []*exchange) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, x := range q.live {
		all = append(all, x)
	}
	return all
}

// Serve answers r through rw. An error is a *pagesruntime.Error, and means that nothing was written. The Worker's Request has r's
// method, URL, headers and body as they are.
func (w *Worker) Serve(rw http.ResponseWriter, r *http.Request) (pagesruntime.Usage, error) {
	w.entered()
	p, c, err := w.connect(r.Context())
	if err != nil {
		w.left()
	}
	if errors.Is(err, web.ErrClientGone) {
		rw.WriteHeader(pagesruntime.StatusClientGone)
		return pagesruntime.Usage{}, nil
	}
	if err != nil {
		return pagesruntime.Usage{}, asError(err)
	}
	x := w.requests.add(w, p, rw, r)
	p.meter.begin(x, c.after)
	err = x.serve(c)
	usage := x.usage()
	usage.Broke, err = x.brokeOff(err)
	x.answered(errors.Is(err, web.ErrClientGone))
	if errors.Is(err, web.ErrClientGone) {
		if !x.wrote {
			rw.WriteHeader(pagesruntime.StatusClientGone)
		}
		return usage, nil
	}
	if err != nil {
		f := asError(err)
		x.addTiming()
		return usage, f
	}
	x.warnOver(usage)
	return usage, nil
}

// connect returns a running process and a connection to it, and counts the request in. It skips a process that is ending, which has
// received nothing.
func (w *Worker) connect(ctx context.Context) (*process, *conn, error) {
	const tries = 3
	for try := 1; ; try++ {
		p, err := w.acquire(ctx)
		if err != nil {
			return nil, nil, err
		}
		if err := p.awaitRun(ctx); err != nil {
			w.under.Done()
			return nil, nil, err
		}
		c, err := p.conn(ctx)
		if err == nil {
			return p, c, nil
		}
		w.under.Done()
		if ctx.Err() != nil {
			return nil, nil, web.ErrClientGone
		}
		select {
		case <-p.done:
		case <-time.After(endWait):
		case <-ctx.Done():
			return nil, nil, web.ErrClientGone
		}
		if try == tries {
			return nil, nil, fmt.Errorf("connect to workerd: %w", err)
		}
	}
}

// asError converts an error to the form that Serve returns.
func asError(err error) *pagesruntime.Error {
	if f, ok := errors.AsType[*pagesruntime.Error](err); ok {
		return f
	}
	return &pagesruntime.Error{Kind: pagesruntime.KindInternal, Message: err.Error()}
}

func (x *exchange) usage() pagesruntime.Usage {
	cpu, shared := x.p.meter.of(x)
	return pagesruntime.Usage{CPU: cpu, Shared: shared, SubRequests: int(x.subRequests.Load()), Isolate: x.p.number}
}

// addTiming adds the meter's figures to the head of the response, also to a page about a failure of the Worker.
func (x *exchange) addTiming() {
	if hide := x.w.o.HideMeter; hide == nil || !hide(x.r) {
		x.rw.Header().Add("Server-Timing", x.w.o.Limits.ServerTiming(x.usage()))
	}
}

// errBroke wraps the error of a response whose head was written.
type brokeError struct{ err error }

func (b *brokeError) Error() string { return b.err.Error() }

func (b *brokeError) Unwrap() error { return b.err }

// brokeOff logs errors after the start of the response, when no page can show them.
func (x *exchange) brokeOff(err error) (broke *pagesruntime.Error, other error) {
	if b, ok := errors.AsType[*brokeError](err); ok {
		broke = asError(b.err)
		x.logError("the response broke off: ", broke)
		return broke, nil
	}
	return nil, err
}

// isDoneLocked marks an exchange without pending work as done.
func (x *exchange) isDoneLocked() {
	if !x.done {
		x.done = true
		close(x.ended)
	}
}

// answered records the end of the response; waitUntil may continue. If the client has left, workerd has ended the handler.
func (x *exchange) answered(gone bool) {
	x.mu.Lock()
	if x.gone = gone; gone && x.settled {
		x.isDoneLocked()
	}
	over := !x.waits || x.done
	tunnel := x.tunnel
	x.closed = tunnel == nil && over
	x.mu.Unlock()
	if tunnel == nil && over {
		x.end()
		return
	}
	go func() {
		defer x.end()
		if tunnel != nil {
			tunnel.run()
			return
		}
		x.awaitWaits()
	}()
}

// awaitWaits waits until the waitUntil promises settle or their time is over.
func (x *exchange) awaitWaits() {
	paused := x.p.pause.total()
	timer := time.NewTimer(pagesruntime.WaitUntilTime)
	defer timer.Stop()
	for {
		select {
		case <-x.ended:
		case <-x.p.done:
			x.lostWaits()
		case <-timer.C:
			if more := x.p.pause.total() - paused; more > 0 { // paused time does not count
				paused += more
				timer.Reset(more)
				continue
			}
			x.warn(pagesruntime.OverWaitUntil)
		case <-x.w.ctx.Done():
		}
		return
	}
}

// waitsLate records a waitUntil that the process reports after the end of the request: the response arrived earlier, on another connection.
func (x *exchange) waitsLate() {
	<-x.forgot
	x.w.requests.reopen(x)
	close(x.again)
	x.p.meter.beginAgain(x)
	x.awaitWaits()
	x.p.meter.end(x)
	x.w.requests.endAgain(x)
}

// end forgets the exchange.
func (x *exchange) end() {
	x.p.meter.end(x)
	x.cancel(context.Canceled)
	x.mu.Lock()
	x.over = time.Now() //nolint:forbidigo // a duration is made of it
	x.mu.Unlock()
	x.w.requests.end(x)
	close(x.forgot)
	x.w.under.Done()
	x.w.left()
}

// lostWaits logs why the process ended that still ran waitUntil.
func (x *exchange) lostWaits() {
	switch why := x.p.ended(); {
	case why.cause == byClose:
	case why.blamed == x:
		x.logError("after the response, in waitUntil: ", x.endingError(why))
	default:
		x.warn("waitUntil is not done: workerd was restarted (" + why.String() + ")")
	}
}

// body is the body of the request on its way to workerd.
type body struct {
	done chan struct{}
	err  error
}

func (b *body) isDone() bool {
	select {
	case <-b.done:
		return true
	default:
		return false
	}
}

// serve sends the request and writes the response.
func (x *exchange) serve(c *conn) error {
	r := x.r
	length := r.ContentLength
	if r.Body == nil || r.Body == http.NoBody {
		length = 0
	}
	// A client that leaves ends the request in workerd, too, unless waitUntil keeps it.
	stop := context.AfterFunc(r.Context(), func() { _ = c.Close() })
	defer stop()
	if err := c.writeHead(r, x.w.urls.URL(r), x.id, visitor, length); err != nil {
		_ = c.Close()
		return x.failure(err)
	}
	var upload *body
	if length != 0 {
		upload = &body{done: make(chan struct{})}
		go func() {
			defer close(upload.done)
			if upload.err = c.writeBody(r.Body, length); upload.err != nil {
				c.closeWrite() // the Worker sees that the body broke off
			}
		}()
	}
	resp, err := c.readHead(r)
	if err != nil {
		_ = c.Close()
		x.stopUpload(c, upload, false)
		return x.failure(err)
	}
	x.p.answered.Store(true)
	if resp.StatusCode == http.StatusSwitchingProtocols {
		stop()
		return x.upgrade(c, resp)
	}
	err = x.write(resp, upload)
	whole := err == nil && !resp.Close
	if uploaded := x.stopUpload(c, upload, whole); uploaded && whole && stop() {
		c.release(true)
	} else {
		_ = c.Close()
	}
	return err
}

// stopUpload ends the upload of the request's body, as net/http requires of a handler that reads while it writes. It reports whether the
// body was sent to its end; otherwise the connection may be closed.
func (x *exchange) stopUpload(c *conn, upload *body, whole bool) (uploaded bool) {
	if upload == nil {
		return true
	}
	uploaded = upload.isDone()
	if !uploaded {
		rc := http.NewResponseController(x.rw)
		if whole {
			_ = rc.Flush() // before it waits for the rest of the body
		}
		_ = c.Close()                           // ends the blocked write
		_ = rc.SetReadDeadline(time.Unix(1, 0)) // and the read
		_ = x.r.Body.Close()
	}
	<-upload.done
	return uploaded && upload.err == nil
}

// answerHeader is the header of our script in js/prelude.js.
const answerHeader = "Pages-Answer"

// write writes the response.
func (x *exchange) write(resp *http.Response, upload *body) error {
	said := resp.Header.Get(answerHeader)
	delete(resp.Header, answerHeader)
	switch {
	case said == x.w.token+" failed":
		return x.thrown(resp)
	case resp.StatusCode == http.StatusInternalServerError && said != x.w.token+" given":
		_ = resp.Body.Close()
		return x.refusedByWorkerd()
	}
	x.decode(resp)
	declared := resp.ContentLength
	if x.r.Method == http.MethodHead {
		declared = 0
	}
	if most := x.mostBytes(); declared > most {
		if x.w.o.Limits.Mode == pagesruntime.Warn {
			x.warn(web.TooLarge(most).Err.Message)
		} else if x.w.o.Limits.Mode != pagesruntime.Off {
			return x.w.sources.TooLarge()
		}
	}
	header := x.rw.Header()
	maps.Copy(header, answerHeaders(resp))
	if upload != nil && !upload.isDone() && http.NewResponseController(x.rw).EnableFullDuplex() == nil {
		header.Set("Connection", "close")
	}
	x.addTiming()
	x.wrote = true
	_, text, _ := strings.Cut(resp.Status, " ")
	if set := x.w.o.Web.StatusText; set != nil && text != "" && text != http.StatusText(resp.StatusCode) {
		set(x.r.Context(), resp.StatusCode, text)
	}
	x.rw.WriteHeader(resp.StatusCode)
	if !fetch.BodyAllowed(x.r.Method, resp.StatusCode) {
		return nil
	}
	return x.copyBody(resp)
}

// decode removes the encoding that workerd has applied to the body if the client does not accept it.
func (x *exchange) decode(resp *http.Response) {
	const name = "Content-Encoding"
	coding := strings.ToLower(resp.Header.Get(name))
	if !compression.IsCoding(coding) || compression.Accepts(x.r.Header.Get("Accept-Encoding"), coding) {
		return
	}
	resp.Header.Del(name)
	resp.Header.Del("Content-Length")
	if fetch.BodyAllowed(x.r.Method, resp.StatusCode) {
		resp.Body, resp.ContentLength = io.NopCloser(compression.Decode(resp.Body, coding)), -1
	}
}

func (x *exchange) mostBytes() int64 {
	if n := x.w.o.Limits.ResponseBytes; n > 0 {
		return n
	}
	return web.DefaultResponseBytes
}

// answerHeaders are the headers of a response for the client.
func answerHeaders(resp *http.Response) http.Header {
	header := make(http.Header, len(resp.Header)+1)
	for name, values := range resp.Header {
		switch {
		case fetch.IsHopByHop(name):
		case len(values) > 1 && name != "Set-Cookie":
			header[name] = []string{strings.Join(values, ", ")}
		default:
			header[name] = values
		}
	}
	if header["Content-Type"] == nil {
		header["Content-Type"] = nil // net/http would guess one
	}
	return header
}

// copyBody writes the body as it arrives.
func (x *exchange) copyBody(resp *http.Response) error {
	most := x.mostBytes()
	control := http.NewResponseController(x.rw)
	streamed := resp.ContentLength < 0
	if streamed {
		_ = control.Flush() // the body may follow much later than the head
	}
	buffer, _ := buffers.Get().(*[]byte)
	defer buffers.Put(buffer)
	for {
		n, err := resp.Body.Read(*buffer)
		if n > 0 {
			if err := x.countBody(n, most); err != nil {
				return x.cut(err)
			}
			_, writeErr := x.rw.Write((*buffer)[:n])
			if writeErr == nil && streamed {
				writeErr = control.Flush()
			}
			if writeErr != nil {
				return web.ErrClientGone
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return x.cut(x.failure(err))
		}
	}
}

// countBody counts bytes of the body. Those over the limit end it.
func (x *exchange) countBody(n int, most int64) error {
	before := x.sent
	x.sent += int64(n)
	switch mode := x.w.o.Limits.Mode; {
	case x.sent <= most || mode == pagesruntime.Off:
	case mode != pagesruntime.Warn:
		return x.w.sources.TooLarge()
	case before <= most:
		x.warn(web.TooLarge(most).Err.Message)
	}
	return nil
}

var buffers = sync.Pool{New: func() any { b := make([]byte, ioSize); return &b }}

// cut breaks off a response that has begun.
func (x *exchange) cut(err error) error {
	if errors.Is(err, web.ErrClientGone) {
		return err
	}
	if conn, _, hijackErr := http.NewResponseController(x.rw).Hijack(); hijackErr == nil {
		_ = conn.Close()
	}
	return &brokeError{err}
}

// countSubRequest counts one outbound request; the one over the limit is refused.
func (x *exchange) countSubRequest() error {
	most := x.w.o.Limits.SubRequests
	if most <= 0 {
		most = limits.SubRequests.Default
	}
	n := x.subRequests.Add(1)
	if int(n) <= most || x.w.o.Limits.Mode == pagesruntime.Off {
		return nil
	}
	err := fetch.TooMany(most)
	if x.w.o.Limits.Mode == pagesruntime.Warn {
		x.warn(err.Message)
		return nil
	}
	x.subRequests.Add(-1)
	return err
}

// warnOver logs exceeded limits that are not enforced.
func (x *exchange) warnOver(u pagesruntime.Usage) {
	if text := x.w.o.Limits.Exceeded(u); text != "" {
		x.warn(text)
	}
}
