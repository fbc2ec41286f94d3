package runtime

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/pages-toolchain/pages/runtime/engine"
	"github.com/pages-toolchain/pages/runtime/web"
)

// Serve serves r and writes the response to rw. An error is a *Error, and means that nothing was written. The Worker's
// Request has r's method, URL, headers and body, unchanged.
func (w *Worker) Serve(rw http.ResponseWriter, r *http.Request) (Usage, error) {
	m := &metered{ResponseWriter: rw, limits: w.o.Limits, hidden: w.o.HideMeter != nil && w.o.HideMeter(r)}
	x := web.NewExchange(m, r)
	defer w.takeTurn(r.Context(), x)()
	s, err := w.acquire(r.Context(), x.Depth() > 0)
	if errors.Is(err, web.ErrClientGone) {
		rw.WriteHeader(StatusClientGone)
		return Usage{}, nil
	}
	if err != nil {
		return Usage{}, w.errorOf(KindInternal, err)
	}
	scope := engine.NewScope(context.WithoutCancel(r.Context()), w.o.Limits.Budget(), x)
	m.scope, m.exchange = scope, x
	headDone := w.headDone(s)
	if !w.o.Pristine {
		m.onHead = func() { headDone() }
	}
	x.Elsewhere = func() (*engine.Isolate, error) {
		next, err := w.acquire(r.Context(), x.Depth() > 0)
		if err != nil {
			return nil, err
		}
		w.release(s, headDone)
		s, headDone = next, w.headDone(next)
		return s.isolate, nil
	}
	defer func() { w.finish(s, scope, x, headDone) }()
	err = w.host.Serve(s.isolate, scope, x)
	if errors.Is(err, engine.ErrReset) && r.Context().Err() != nil {
		err = web.ErrClientGone
	}
	usage := Usage{CPU: scope.CPU(), SubRequests: x.SubRequests(), Isolate: s.number}
	if errors.Is(err, web.ErrClientGone) && !m.wrote {
		rw.WriteHeader(StatusClientGone)
	}
	if usage.Broke, err = w.brokeOff(scope, err); err != nil {
		f := w.errorOf(KindException, err)
		if w.passThrough(scope, rw, r, err, f) {
			return usage, nil
		}
		m.addTiming()
		return usage, f
	}
	w.warnOver(r, usage)
	return usage, nil
}

// brokeOff handles errors after the beginning of the response, or after the client has left: no page can show them. It
// returns the reason why the response ended early.
func (w *Worker) brokeOff(scope *engine.Scope, err error) (broke *Error, other error) {
	if aborted, ok := errors.AsType[*web.Aborted](err); ok {
		broke = w.errorOf(KindException, aborted.Err)
		w.logError(scope, "the response broke off: ", broke)
		return broke, nil
	}
	if errors.Is(err, web.ErrClientGone) {
		return nil, nil
	}
	return nil, err
}

// passThrough responds as if there were no Worker, with the static file or the site's own 404, if the handler threw
// after ctx.passThroughOnException(). It logs the exception, and reports whether it responded.
func (w *Worker) passThrough(scope *engine.Scope, rw http.ResponseWriter, r *http.Request, err error, f *Error) bool {
	failed, ok := errors.AsType[*web.Failure](err)
	if !ok || !failed.PassThrough || w.o.Bindings == nil {
		return false
	}
	for _, assets := range w.o.Bindings.Assets { // there is at most one
		w.logError(scope, PassedThrough, f)
		assets.ServeHTTP(rw, r)
		return true
	}
	return false
}

// endScope is called for a scope without further work.
func (w *Worker) endScope(scope *engine.Scope) {
	scope.End(nil)
	w.logs.forget(scope)
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.answered, scope)
}

// onReset is called after an isolate started over. The log shows the reason for a request that has its response already.
func (w *Worker) onReset(s *slot, scope *engine.Scope, cause error) {
	killed, ok := errors.AsType[*engine.KilledError](cause)
	where := "after the response, in waitUntil: "
	switch {
	case !ok:
	case killed.Scope.Value == finalizers{}:
		where = "in a callback of a FinalizationRegistry: "
	default:
		w.mu.Lock()
		_, ok = w.answered[killed.Scope]
		w.mu.Unlock()
	}
	if ok {
		w.logError(killed.Scope, where, w.sources.OverCPU(killed))
	}
	w.host.Reset(s.isolate, scope, cause)
}

// finish lets ctx.waitUntil continue after the response, for a bounded time, and then releases the isolate.
func (w *Worker) finish(s *slot, scope *engine.Scope, x *web.Exchange, headDone func()) {
	select {
	case <-x.Done():
		w.endScope(scope)
		w.release(s, headDone)
		return
	default:
	}
	w.mu.Lock()
	w.answered[scope] = struct{}{}
	w.mu.Unlock()
	if !w.o.Pristine { // others may use the isolate in the meantime
		headDone()
	}
	go func() {
		defer func() {
			w.endScope(scope)
			if w.o.Pristine {
				w.release(s, headDone)
			} else {
				w.requestDone(s)
			}
		}()
		timer := time.NewTimer(WaitUntilTime)
		defer timer.Stop()
		select {
		case <-x.Done():
		case <-timer.C:
			w.warn(scope, OverWaitUntil)
			w.host.GiveUp(x)
		case <-w.ctx.Done():
		}
	}()
}

// warnOver logs exceeded limits that are not enforced.
func (w *Worker) warnOver(r *http.Request, u Usage) {
	if text := w.o.Limits.Exceeded(u); text != "" && w.o.Console != nil {
		w.o.Console(Line{Time: w.runtime.now(), Level: "warn", Request: r, Text: text})
	}
}

// metered adds the request's meter to the head of its response, as a Server-Timing header.
type metered struct {
	http.ResponseWriter
	limits   Limits
	hidden   bool // see [WorkerOptions.HideMeter]
	scope    *engine.Scope
	exchange *web.Exchange
	wrote    bool
	onHead   func() // called at least once when the head is written; may be nil
}

// WriteHeader implements http.ResponseWriter.
func (m *metered) WriteHeader(status int) {
	if !m.wrote && status >= 200 {
		m.wrote = true
		m.addTiming()
	}
	m.ResponseWriter.WriteHeader(status)
	if m.onHead != nil && (status >= 200 || status == http.StatusSwitchingProtocols) {
		m.onHead()
	}
}

// addTiming adds the header, including to an error page.
func (m *metered) addTiming() {
	if m.hidden {
		return
	}
	m.Header().Add("Server-Timing", m.limits.ServerTiming(Usage{CPU: m.scope.CPU(), SubRequests: m.exchange.SubRequests()}))
}

// ServerTiming is the meter of a request as a value of the header Server-Timing.
func (l Limits) ServerTiming(u Usage) string {
	shared := ""
	if u.Shared {
		shared = ", shared"
	}
	return fmt.Sprintf(`cpu;dur=%.2f;desc="of %d ms%s", sub;desc="%d of %d"`,
		float64(u.CPU)/float64(time.Millisecond), l.CPUTime().Milliseconds(), shared, u.SubRequests, l.SubRequests)
}

// Write implements http.ResponseWriter.
func (m *metered) Write(b []byte) (int, error) {
	if !m.wrote {
		m.WriteHeader(http.StatusOK)
	}
	return m.ResponseWriter.Write(b)
}

// Unwrap returns the writer below, for http.ResponseController.
func (m *metered) Unwrap() http.ResponseWriter { return m.ResponseWriter }
