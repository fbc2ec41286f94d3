package runtime

import (
	"fmt"
	"net/http"
	"sync"

	"github.com/pages-toolchain/pages/runtime/engine"
	"github.com/pages-toolchain/pages/runtime/web"
	"github.com/pages-toolchain/pages/runtime/web/console"
)

// console logs an entry of the Worker's console.
func (w *Worker) console(s *engine.Scope, e console.Entry) {
	if w.o.Console == nil || !w.mayLog(s, len(e.Text)) {
		return
	}
	l := w.sources.Line(e)
	l.Time, l.Request = w.runtime.now(), requestOf(s)
	w.o.Console(l)
}

// warn logs a line of the runtime's own, as long as the request may log.
func (w *Worker) warn(s *engine.Scope, text string) {
	if w.o.Console != nil && w.mayLog(s, len(text)) {
		w.o.Console(w.line(s, "warn", text))
	}
}

// lostText is logged for code after an await that does not run: see engine.IsolateOptions.OnLost.
const lostText = "a promise was settled that a request awaited which has ended: its code after the await does not run. " +
	"If it should, let that request wait for it: ctx.waitUntil(promise). Said once, until the isolate starts over"

// mayLog reports whether a request may log size more bytes, and logs the end of its quota once.
func (w *Worker) mayLog(s *engine.Scope, size int) bool {
	ok, last := w.logs.admit(s, size)
	if last {
		w.o.Console(w.line(s, "warn", OverLogs))
	}
	return ok
}

// logRejection logs a promise that was rejected without a handler.
func (w *Worker) logRejection(s *engine.Scope, e *engine.Error) {
	if w.o.Console == nil {
		return
	}
	l := w.sources.Rejection(e)
	if !w.mayLog(s, len(l.Text)) {
		return
	}
	l.Time, l.Request = w.runtime.now(), requestOf(s)
	w.o.Console(l)
}

// logError logs an Error that no response can show.
func (w *Worker) logError(s *engine.Scope, what string, f *Error) {
	if w.o.Console == nil {
		return
	}
	l := w.line(s, "error", what+f.Headline())
	l.Frames = f.Frames
	w.o.Console(l)
}

func (w *Worker) line(s *engine.Scope, level, text string) Line {
	return Line{Time: w.runtime.now(), Level: level, Text: text, Request: requestOf(s)}
}

// requestOf is the request of a scope; nil for none.
func requestOf(s *engine.Scope) *http.Request {
	if x, ok := s.Value.(*web.Exchange); ok && x != nil {
		return x.Request()
	}
	return nil
}

// Bounds on the log output of one request. The platform does not document its own; these are those of Workers, with a bound
// on lines.
const (
	maxLogBytes = 256 << 10
	maxLogLines = 1000
)

// logQuota counts the log output of requests. The zero value is ready.
type logQuota struct {
	mu   sync.Mutex
	used map[*engine.Scope]*LogQuota
}

// admit reports whether a line of size bytes may be logged; last is true once for each scope, for the first line over the
// quota.
func (q *logQuota) admit(s *engine.Scope, size int) (ok, last bool) {
	if s.Context().Err() != nil { // forget is not called again
		return true, false
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.used == nil {
		q.used = map[*engine.Scope]*LogQuota{}
	}
	l := q.used[s]
	if l == nil {
		l = &LogQuota{}
		q.used[s] = l
	}
	return l.Admit(size)
}

// forget is called at the end of a scope.
func (q *logQuota) forget(s *engine.Scope) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.used, s)
}

// OverLogs is logged instead of all further lines.
var OverLogs = fmt.Sprintf("the log of this request ends here: it is over the limit of %d lines or %d KB", maxLogLines, maxLogBytes>>10)

// LogQuota counts the log output of one request. The zero value is ready; it is not safe for concurrent use.
type LogQuota struct{ lines, bytes int }

// Admit reports whether a line of size bytes may be logged; last is true once, for the first line over the quota, which
// [OverLogs] replaces.
func (q *LogQuota) Admit(size int) (ok, last bool) {
	if q.lines > maxLogLines || q.bytes > maxLogBytes {
		return false, false
	}
	q.lines++
	q.bytes += size
	over := q.lines > maxLogLines || q.bytes > maxLogBytes
	return !over, over
}
