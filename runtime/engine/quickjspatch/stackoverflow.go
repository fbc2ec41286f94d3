package quickjspatch

import (
	"errors"
	"slices"

	"github.com/pages-toolchain/pages/runtime/wasmbinary/op"
)

// This file keeps stack for the trace of calls that are too deep. QuickJS throws its
// RangeError where no call can be made any more, not that of prepareStackTrace either,
// and the error is left without a trace. While build_backtrace (context, error, filter,
// file, line, column, flags) makes one, the limit of the stack is TraceLimit and not
// StackLimit: its calls go to a new function, which sets the one, calls it, and sets the
// other.

const (
	// StackLimit is the most C stack that JavaScript may use. The host sets it.
	StackLimit = TraceLimit - 32<<10
	// TraceLimit is that while a trace is made. The module has 1 MiB; recursion must meet
	// the engine's own check, not a trap. The rest is what a call may take that was found
	// to fit: the largest frame of the module has 2.7 kB.
	TraceLimit = 896 << 10

	traceType       = "\x60\x07\x7f\x7e\x7e\x7f\x7f\x7f\x7f\x00"
	traceParameters = 7
)

// tracer is where the calls of this file go.
type tracer struct{ build, limit, buildType uint32 }

// The function of this file comes after those of stringsearch.go.
func (f *patcher) traceFunction() uint32 { return f.first + 14 }

// tracer finds build_backtrace, which is the one function of its type.
func (l layout) tracer() (t tracer, err error) {
	limit, ok := l.exports["qjs_set_max_stack_size"]
	building := l.typeIndex(traceType)
	if !ok || building < 0 {
		return t, errors.New("the module lacks qjs_set_max_stack_size, or a function of build_backtrace's type")
	}
	if n := slices.Index(l.funcs, uint32(building)); n >= 0 && !slices.Contains(l.funcs[n+1:], uint32(building)) {
		return tracer{build: l.imports.funcs + uint32(n), limit: limit, buildType: uint32(building)}, nil
	}
	return t, errors.New("the module does not have one function of build_backtrace's type")
}

// traceBody is the body: limit(TraceLimit); build_backtrace(its own seven); limit(StackLimit).
func (t tracer) traceBody() []byte {
	limit := func(out []byte, n int32) []byte {
		return op.AppendU32(append(op.AppendS32(append(out, op.I32Const), n), op.Call), t.limit)
	}
	out := limit([]byte{0}, TraceLimit)
	for n := range byte(traceParameters) {
		out = appendGet(out, n)
	}
	out = op.AppendU32(append(out, op.Call), t.build)
	return append(limit(out, StackLimit), op.End)
}
