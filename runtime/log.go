package runtime

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/pages-toolchain/pages/runtime/engine"
	"github.com/pages-toolchain/pages/runtime/web"
	"github.com/pages-toolchain/pages/runtime/web/console"
)

// console passes on what the Worker logged.
func (w *Worker) console(s *engine.Scope, e console.Entry) {
	if w.o.Console == nil || !w.mayLog(s, len(e.Text)) {
		return
	}
	l := w.line(s, e.Level, w.sources.text(e.Text))
	l.Frames = w.sources.trace(e.Stack)
	if e.Called {
		l.Called, l.Args, l.Frames = true, json.RawMessage(e.Args), caller(l.Frames)
	}
	w.o.Console(l)
}

// caller is the author's frame that called console, if there is one.
func caller(trace []Frame) []Frame {
	if len(trace) == 0 || !authored(trace[0]) {
		return nil
	}
	return trace[:1]
}

// warn logs a line of the runtime's own, as long as the request may log.
func (w *Worker) warn(s *engine.Scope, text string) {
	if w.o.Console != nil && w.mayLog(s, len(text)) {
		w.o.Console(w.line(s, "warn", text))
	}
}

// lostText is what is said of code that waited for another request too long.
const lostText = "a promise was settled that a request awaited which has ended: its code after the await does not run. " +
	"If it should, let that request wait for it: ctx.waitUntil(promise). Said once, until the isolate starts over"

// mayLog reports whether a request may log so many bytes more. At the first that
// it may not, it says so in the log.
func (w *Worker) mayLog(s *engine.Scope, size int) bool {
	ok, last := w.logs.admit(s, size)
	if last {
		w.o.Console(w.line(s, "warn", overLogs))
	}
	return ok
}

// rejected tells of a promise that nobody handles.
func (w *Worker) rejected(s *engine.Scope, e *engine.Error) {
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

// fault logs an Error that no page can show.
func (w *Worker) fault(s *engine.Scope, what string, f *Error) {
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
		f.Fix = "import less, and keep data in a file of the assets, a database or a bucket"
	}
	return f
}
