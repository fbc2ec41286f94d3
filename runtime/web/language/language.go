// Package language has the engine's own errors and texts say what V8's would: what an
// exception is about, where a JSON text is broken, where in the author's files a stack
// leads. It also answers what JavaScript cannot ask of its own values.
//
// In: the sources of evaluated modules and the positions of the author's files, by
// [Options]. Out: host functions, for the isolates of one Worker. There are no errors of
// its own: what cannot be read gets the engine's text. A [Host] is safe for concurrent
// use. The package never evaluates code.
package language

import (
	"maps"

	"github.com/pages-toolchain/pages/runtime/engine"
)

// Options says what a Host knows of the Worker. The zero value works.
type Options struct {
	// Source returns the code of an evaluated module by its name, nil for none: for
	// errors that name what they are about. Default: none.
	Source func(name string) []byte
	// Stack returns a stack with positions in the author's files. Default: stacks
	// are read as they are.
	Stack func(stack string) string
}

// Host answers for the isolates of one Worker.
type Host struct {
	stack    func(stack string) string
	wordings wordings
}

// New returns a Host.
func New(o Options) *Host { return &Host{stack: o.Stack, wordings: wordings{source: o.Source}} }

// Funcs returns the host functions.
func (h *Host) Funcs() map[string]engine.Func {
	all := h.wordings.funcs()
	maps.Copy(all, stackFuncs(h.stack))
	maps.Copy(all, objectFuncs())
	return all
}
