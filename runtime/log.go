package runtime

import (
	"github.com/pages-toolchain/pages/runtime/engine"
	"github.com/pages-toolchain/pages/runtime/web"
)

// console passes on what the Worker logged.
func (w *Worker) console(s *engine.Scope, e web.ConsoleEntry) {
	if w.o.Console == nil {
		return
	}
	w.tell(s, e.Level, e.Text, e.Stack)
}

// tell passes a line on, as long as the request may log.
func (w *Worker) tell(s *engine.Scope, level, text, stack string) {
	ok, last := w.logs.admit(s, len(text))
	switch {
	case ok:
		w.o.Console(w.line(s, level, text, stack))
	case last:
		w.o.Console(w.line(s, "warn", overLogs, ""))
	}
}

// rejected tells of a promise that nobody handles.
func (w *Worker) rejected(s *engine.Scope, e *engine.Error) {
	if w.o.Console == nil {
		return
	}
	w.tell(s, "error", "unhandled rejection: "+e.Error(), e.Stack)
}

// fault logs an Error that no page can show.
func (w *Worker) fault(s *engine.Scope, what string, f *Error) {
	if w.o.Console == nil {
		return
	}
	l := w.line(s, "error", what+f.Error(), "")
	l.Frames = f.Frames
	w.o.Console(l)
}

func (w *Worker) line(s *engine.Scope, level, text, stack string) Line {
	l := Line{Time: w.runtime.now(), Level: level, Text: text, Frames: w.sources.frames(stack)}
	if x, ok := s.Value.(*web.Exchange); ok && x != nil {
		l.Request = x.Request()
	}
	return l
}

// loadError is the Error of a module that could not be loaded.
func (w *Worker) loadError(err error) *Error {
	f := w.errorOf(KindLoad, err)
	if f.Kind == KindCPU {
		f.Kind = KindLoad
		f.Message = "the Worker did not finish loading: its top level used more than " + w.o.LoadCPU.String() + " of CPU time"
		f.Fix = "move the work from the top level of the module into the handler"
	}
	return f
}
