// Package language gives the engine's own errors and texts the words of V8: the object of an exception, the place where a JSON text is
// broken, the lines of the author's files in a stack. It also answers questions about values that JavaScript itself cannot.
//
// In: the sources of evaluated modules and the positions of the author's files, by [Options]. Out: host functions, for the isolates of one
// Worker. It has no errors: unreadable code gets the engine's text. The functions are safe for concurrent use. The package never evaluates
// code.
package language

import (
	"sync"

	"github.com/pages-toolchain/pages/runtime/engine"
	"github.com/pages-toolchain/pages/runtime/expression"
	"github.com/pages-toolchain/pages/runtime/web/offload"
)

// Options give access to the Worker's code and positions. The zero value works.
type Options struct {
	// Source returns the code of an evaluated module by its name, nil for none: for errors that
	// name their subject. Default: none.
	Source func(name string) []byte
	// Stack returns a stack with positions in the author's files. Default: stacks are read as they
	// are.
	Stack func(stack string) string
}

// Funcs returns the host functions for the isolates of one Worker.
func Funcs(o Options) map[string]engine.Func {
	subjects := &subjectCache{source: o.Source}
	at := func(c *engine.Call) subject { return subjects.at(position{c.String(0), int(c.Int(1)), int(c.Int(2))}) }
	return map[string]engine.Func{
		// called_at(file, line, column) -> the callees of the calls that this may be of
		"called_at": func(c *engine.Call) (any, error) { return at(c).called, nil },
		// iterated_at(file, line, column) -> the expression that is iterated there, "" for unknown
		"iterated_at": func(c *engine.Call) (any, error) { return at(c).iterated, nil },
		// destructured_at(file, line, column) -> the property of the pattern there, and its source;
		// null for no pattern
		"destructured_at": func(c *engine.Call) (any, error) {
			if d := at(c).destructured; d != nil {
				return d, nil
			}
			return nil, nil
		},
		// assigned_at(file, line, column) -> the member that is assigned to there, "" for unknown
		"assigned_at": func(c *engine.Call) (any, error) { return at(c).assigned, nil },
		// json_problem(text) -> V8's message for invalid JSON, "" for valid JSON
		"json_problem": func(c *engine.Call) (any, error) {
			text := c.String(0)
			return offload.Text(c, text, func() (any, error) { return jsonProblem(text), nil })
		},
		// authored_stack(stack) -> the stack with positions in the author's files; null where they
		// are not asked for
		"authored_stack": func(c *engine.Call) (any, error) {
			if o.Stack == nil {
				return nil, nil
			}
			stack := c.String(0)
			return offload.Text(c, stack, func() (any, error) { return o.Stack(stack), nil })
		},
		// is_ordinary(value) -> whether it is an array or an object of no built-in kind
		"is_ordinary": func(c *engine.Call) (any, error) { return c.IsOrdinary(0), nil },
		// is_proxy(value)
		"is_proxy": func(c *engine.Call) (any, error) { return c.IsProxy(0), nil },
		// proxy_target(value) -> the target of a Proxy, undefined if it was revoked; null for no
		// Proxy
		"proxy_target": func(c *engine.Call) (any, error) {
			if !c.IsProxy(0) {
				return nil, nil
			}
			if target, err := c.ProxyTarget(0); err == nil {
				return target, nil
			}
			return engine.Undefined, nil
		},
		// json_text(value, gap) -> JSON, or undefined when the value is not plain
		"json_text": func(c *engine.Call) (any, error) {
			text, ok, err := c.JSON(0, c.String(1))
			if !ok || err != nil {
				return engine.Undefined, err
			}
			return text, nil
		},
		// keep_alive(): this job keeps something alive until it ends, or for longer
		"keep_alive": func(c *engine.Call) (any, error) {
			c.KeepAlive()
			return nil, nil
		},
		// finalize(): callbacks of FinalizationRegistry may run after this turn
		"finalize": func(c *engine.Call) (any, error) {
			c.Finalize()
			return nil, nil
		},
	}
}

type position struct {
	file         string
	line, column int
}

// subject holds the candidate expressions for an error at a position.
type subject struct {
	called       []string
	iterated     string
	assigned     string
	destructured []string // nil without a pattern
}

// maxSubjects is the size of the cache: a loop that fails repeatedly fails in the same place.
const maxSubjects = 256

type subjectCache struct {
	source func(name string) []byte // Options.Source
	mu     sync.Mutex
	cached map[position]subject
}

func (s *subjectCache) at(p position) subject {
	s.mu.Lock()
	defer s.mu.Unlock()
	found, ok := s.cached[p]
	if ok || s.source == nil {
		return found
	}
	if s.cached == nil || len(s.cached) >= maxSubjects {
		s.cached = map[position]subject{}
	}
	code := s.source(p.file)
	found = subject{
		called:   expression.Callees(code, p.line, p.column),
		iterated: expression.Iterable(code, p.line, p.column),
		assigned: expression.AssignedMember(code, p.line, p.column),
	}
	if property, source, ok := expression.Pattern(code, p.line, p.column); ok {
		found.destructured = []string{property, source}
	}
	s.cached[p] = found
	return found
}
