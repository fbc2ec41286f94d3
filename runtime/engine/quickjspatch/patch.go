// Package quickjspatch rewrites quickjs.wasm so that its host can stop it, follow it and call it cheaply.
//
// QuickJS calls its interrupt handler between JavaScript instructions only: a native built-in ([].join of fifty million
// holes, a quadratic indexOf) runs for seconds without a call, and nothing can end a goroutine from outside. [Instrument]
// puts a counter at the head of every loop of the module (instrument.go); when the counter runs out the module calls its own
// host_interrupt import and starts over. The host may panic then, which unwinds the module's stack. Instructions that fill
// or copy memory take from the counter by the bytes that they move. The counter costs 5 %.
//
// The same pass adds hooks (hooks.go): for the code after an await, for the request that a promise belongs to, for calls of
// the host without copies of the arguments, and for dates, which the host reads.
//
// It makes common work faster: regular expressions (regexpsearch.go), searches in strings (stringsearch.go), moves within
// arrays (arraymove.go), the interpreter of bytecode (interpreter.go), and the release of values (freevalue.go).
//
// It makes a garbage collection precede the limit of memory, and reports the limit to the host (memorylimit.go).
//
// It raises limits (nativecall.go, regexpgroups.go), and corrects faults of QuickJS (corrections.go). A correction that does not
// find its place leaves the module unchanged; tests of the engine then fail.
//
// In: the bytes of a core WebAssembly module that imports the function env.host_interrupt () -> i32 and has a section of
// globals. Out: the bytes of the rewritten module. Any other module, or one with an instruction that this package does not
// know, is an error. Pure and safe for concurrent use; it runs nothing.
package quickjspatch

import (
	"bytes"
	"errors"
	"slices"

	"github.com/pages-toolchain/pages/runtime/wasmbinary"
	"github.com/pages-toolchain/pages/runtime/wasmbinary/op"
)

// Period is the number of loop iterations between two calls of host_interrupt. An iteration takes some 1 to 100 ns, so that a
// period is a millisecond at most.
const Period = 10_000

// Instrument returns module with a fuel counter at the head of every loop and, if it is QuickJS, with all other patches.
func Instrument(module []byte) ([]byte, error) {
	if !bytes.HasPrefix(module, wasmbinary.Header) {
		return nil, errors.New("not a WebAssembly module of version 1")
	}
	l, err := readLayout(module)
	if err != nil {
		return nil, err
	}
	if l.globals == 0 {
		return nil, errors.New("the module has no global section to put the counter in")
	}
	f, err := l.patcher()
	if err != nil {
		return nil, err
	}
	counter := l.imports.globals + l.globals
	p := probe{counter: counter, length: counter + 1, interrupt: uint32(l.imports.interrupt)}
	if f != nil {
		f.counter, f.global, f.owners.global, f.memory.full, f.memory.refused = counter, counter+2, counter+3, counter+4, counter+5
	}
	return rewrite(module, l, p, f)
}

// rewrite copies the module section by section. f may be nil.
func rewrite(module []byte, l layout, p probe, f *patcher) ([]byte, error) {
	in, out := &wasmbinary.Reader{Bytes: module, At: len(wasmbinary.Header)}, bytes.Clone(wasmbinary.Header)
	for in.More() {
		id := in.Byte()
		body := in.Vector()
		if in.Err != nil {
			break
		}
		switch {
		case id == wasmbinary.SectionGlobal:
			globals := [][]byte{counterGlobal(Period), counterGlobal(0)} // the counter, and the length of a move
			if f != nil {
				globals = append(globals, counterGlobal(0), counterGlobal(0), counterGlobal(0), counterGlobal(0))
			}
			body, in.Err = appendItems(body, globals)
		case id == wasmbinary.SectionCode:
			body, in.Err = instrumentCode(body, l, p, f)
		case id == wasmbinary.SectionFunction && f != nil:
			var types [][]byte
			for _, a := range f.newFunctions(p) {
				types = append(types, op.AppendU32(nil, a.typ))
			}
			body, in.Err = appendItems(body, types)
		case id == wasmbinary.SectionExport && f != nil:
			body, in.Err = appendItems(body, [][]byte{
				export(CounterGlobal, wasmbinary.Global, f.counter),
				export(PerformThen, wasmbinary.Func, f.then),
				export(OwnerGlobal, wasmbinary.Global, f.owners.global),
				export(Settle, wasmbinary.Func, f.owners.settle),
				export(FollowGlobal, wasmbinary.Global, f.global),
				export(FullGlobal, wasmbinary.Global, f.memory.full),
				export(RefusedGlobal, wasmbinary.Global, f.memory.refused),
			})
		case id == wasmbinary.SectionData && f != nil:
			body = widenOperations(nativeCodeOnOneLine(body))
		}
		out = append(out, id)
		out = op.AppendU32(out, uint32(len(body)))
		out = append(out, body...)
	}
	if in.Err != nil {
		return nil, in.Err
	}
	return out, nil
}

// appendItems appends items to a section that is a vector.
func appendItems(body []byte, items [][]byte) ([]byte, error) {
	r := &wasmbinary.Reader{Bytes: body}
	n := r.U32()
	if r.Err != nil {
		return nil, r.Err
	}
	out := append(op.AppendU32(nil, n+uint32(len(items))), body[r.At:]...)
	return append(out, slices.Concat(items...)...), nil
}

// counterGlobal is a mutable i32 with an initial value.
func counterGlobal(first int32) []byte {
	return append(op.AppendS32([]byte{typeI32, 0x01, op.I32Const}, first), op.End)
}

func export(name string, kind wasmbinary.Kind, index uint32) []byte {
	out := append(op.AppendU32(nil, uint32(len(name))), name...)
	return op.AppendU32(append(out, byte(kind)), index)
}
