package runtime

import (
	"encoding/json"
	"fmt"
	"strings"
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
	l := w.line(s, e.Level, w.sources.text(e.Text))
	l.Frames = w.sources.trace(e.Stack)
	if e.Called {
		l.Called, l.Args = true, json.RawMessage(e.Args)
		if len(l.Frames) > 0 && isAuthored(l.Frames[0]) {
			l.Frames = l.Frames[:1] // that called console
		} else {
			l.Frames = nil
		}
	}
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

// mayLog reports whether a request may log size bytes more, and logs the end of its quota once.
func (w *Worker) mayLog(s *engine.Scope, size int) bool {
	ok, last := w.logs.admit(s, size)
	if last {
		w.o.Console(w.line(s, "warn", overLogs))
	}
	return ok
}

// logRejection logs a promise that was rejected without a handler.
func (w *Worker) logRejection(s *engine.Scope, e *engine.Error) {
	if w.o.Console == nil {
		return
	}
	lines := []string{"unhandled rejection: " + e.Error()}
	for _, c := range w.sources.causes(e) {
		lines = append(lines, c.String())
	}
	text := strings.Join(lines, "\n  ")
	if !w.mayLog(s, len(text)) {
		return
	}
	l := w.line(s, "error", text)
	l.Frames = w.sources.trace(e.Stack)
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
	l := Line{Time: w.runtime.now(), Level: level, Text: text}
	if x, ok := s.Value.(*web.Exchange); ok && x != nil {
		l.Request = x.Request()
	}
	return l
}

// loadError is the Error of a module that could not be loaded.
func (w *Worker) loadError(err error) *Error {
	f := w.errorOf(KindLoad, err)
	switch f.Kind { //nolint:exhaustive // the others are as they are at any time
	case KindCPU:
		f.Kind = KindLoad
		f.Message = "the Worker did not finish loading: its top level used more than " + w.o.LoadCPU.String() + " of CPU time"
		f.Fix = "move the work from the top level of the module into the handler"
	case KindMemory:
		f.Message += fmt.Sprintf(" while it was loaded; its code alone is %.1f MiB", float64(len(w.o.Code))/(1<<20))
		if packages := biggestPackages(w.o.Map); packages != "" {
			f.Message += ". The biggest packages in it: " + packages
		}
		f.Fix = "import less, and keep data in a file of the assets, a database or a bucket"
	}
	return f
}

// The most that one request may log. The platform's own figures are not shown; these are those of Workers, with a bound for
// lines.
const (
	maxLogBytes = 256 << 10
	maxLogLines = 1000
)

// logQuota counts what requests have logged. The zero value is ready.
type logQuota struct {
	mu   sync.Mutex
	used map[*engine.Scope]*logged
}

type logged struct{ lines, bytes int }

// admit reports whether a line of size bytes may be logged; last is true once for each scope, for the first line over the
// quota.
func (q *logQuota) admit(s *engine.Scope, size int) (ok, last bool) {
	if s.Context().Err() != nil { // forget is not called again
		return true, false
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.used == nil {
		q.used = map[*engine.Scope]*logged{}
	}
	l := q.used[s]
	if l == nil {
		l = &logged{}
		q.used[s] = l
	}
	if l.lines > maxLogLines || l.bytes > maxLogBytes {
		return false, false
	}
	l.lines++
	l.bytes += size
	over := l.lines > maxLogLines || l.bytes > maxLogBytes
	return !over, over
}

// forget is called at the end of a scope.
func (q *logQuota) forget(s *engine.Scope) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.used, s)
}

// overLogs is logged instead of all further lines.
var overLogs = fmt.Sprintf("the log of this request ends here: it is over the limit of %d lines or %d KB", maxLogLines, maxLogBytes>>10)
