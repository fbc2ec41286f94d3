package web

import (
	"sync"

	"github.com/pages-toolchain/pages/runtime/engine"
	"github.com/pages-toolchain/pages/runtime/expression"
)

// wordingFuncs answer wording.js and json.js.
func (h *Host) wordingFuncs() map[string]engine.Func {
	return map[string]engine.Func{
		// called_at(file, line, column) -> the callees of the calls that this may be of
		"called_at": func(c *engine.Call) (any, error) {
			return h.wordings.of(h.placeOf(c)).called, nil
		},
		// iterated_at(file, line, column) -> what is gone through there, "" for unknown
		"iterated_at": func(c *engine.Call) (any, error) {
			return h.wordings.of(h.placeOf(c)).iterated, nil
		},
		// json_problem(text) -> what V8 says of a text that is no JSON, "" of one that is
		"json_problem": func(c *engine.Call) (any, error) {
			text := c.String(0)
			return apartText(c, text, func() (any, error) { return jsonProblem(text), nil })
		},
	}
}

// placeOf is the position in a module's code that arguments 0 to 2 name.
func (h *Host) placeOf(c *engine.Call) (place, []byte) {
	p := place{c.String(0), int(c.Int(1)), int(c.Int(2))}
	if h.o.Source == nil {
		return p, nil
	}
	return p, h.o.Source(p.file)
}

type place struct {
	file         string
	line, column int
}

// wording is what an error at a place may be about.
type wording struct {
	called   []string
	iterated string
}

// mostWordings are kept: a loop that goes wrong goes wrong in the same place.
const mostWordings = 256

// wordings are those that were looked for already.
type wordings struct {
	mu   sync.Mutex
	kept map[place]wording
}

func (w *wordings) of(p place, code []byte) wording {
	w.mu.Lock()
	defer w.mu.Unlock()
	found, ok := w.kept[p]
	if ok {
		return found
	}
	if w.kept == nil || len(w.kept) >= mostWordings {
		w.kept = map[place]wording{}
	}
	found = wording{expression.Called(code, p.line, p.column), expression.Iterated(code, p.line, p.column)}
	w.kept[p] = found
	return found
}
