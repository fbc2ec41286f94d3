package language

import (
	"sync"

	"github.com/pages-toolchain/pages/runtime/engine"
	"github.com/pages-toolchain/pages/runtime/expression"
	"github.com/pages-toolchain/pages/runtime/web/offload"
)

// funcs answer wording.js.
func (w *wordings) funcs() map[string]engine.Func {
	return map[string]engine.Func{
		// called_at(file, line, column) -> the callees of the calls that this may be of
		"called_at": func(c *engine.Call) (any, error) {
			return w.at(placeOf(c)).called, nil
		},
		// iterated_at(file, line, column) -> what is gone through there, "" for unknown
		"iterated_at": func(c *engine.Call) (any, error) {
			return w.at(placeOf(c)).iterated, nil
		},
		// destructured_at(file, line, column) -> the property of the pattern there, and what it takes
		// apart; null for no pattern
		"destructured_at": func(c *engine.Call) (any, error) {
			if d := w.at(placeOf(c)).destructured; d != nil {
				return d, nil
			}
			return nil, nil
		},
		// assigned_at(file, line, column) -> the member that is assigned to there, "" for unknown
		"assigned_at": func(c *engine.Call) (any, error) {
			return w.at(placeOf(c)).assigned, nil
		},
		// json_problem(text) -> what V8 says of a text that is no JSON, "" of one that is
		"json_problem": func(c *engine.Call) (any, error) {
			text := c.String(0)
			return offload.Text(c, text, func() (any, error) { return jsonProblem(text), nil })
		},
	}
}

// place is a position in a module's code.
type place struct {
	file         string
	line, column int
}

func placeOf(c *engine.Call) place { return place{c.String(0), int(c.Int(1)), int(c.Int(2))} }

// wording is what an error at a place may be about.
type wording struct {
	called       []string
	iterated     string
	assigned     string
	destructured []string // nil where no pattern is
}

// mostWordings are kept: a loop that goes wrong goes wrong in the same place.
const mostWordings = 256

// wordings are those that were looked for already.
type wordings struct {
	source func(name string) []byte // Options.Source
	mu     sync.Mutex
	kept   map[place]wording
}

func (w *wordings) at(p place) wording {
	w.mu.Lock()
	defer w.mu.Unlock()
	found, ok := w.kept[p]
	if ok || w.source == nil {
		return found
	}
	if w.kept == nil || len(w.kept) >= mostWordings {
		w.kept = map[place]wording{}
	}
	code := w.source(p.file)
	found = wording{
		called:   expression.Callees(code, p.line, p.column),
		iterated: expression.Iterable(code, p.line, p.column),
		assigned: expression.AssignedMember(code, p.line, p.column),
	}
	if property, source, ok := expression.Pattern(code, p.line, p.column); ok {
		found.destructured = []string{property, source}
	}
	w.kept[p] = found
	return found
}
