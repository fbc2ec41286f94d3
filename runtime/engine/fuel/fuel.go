// Package fuel rewrites a WebAssembly module so that its host hears of every
// long computation.
//
// QuickJS asks its interrupt handler between JavaScript instructions only: a
// native built-in ([].join of fifty million holes, a quadratic indexOf) runs on
// for seconds unheard, and wazero's machine code cannot be preempted, so it
// also holds up Go's garbage collector. [Instrument] puts a counter at the head
// of every loop of the module; when the counter runs out the module calls its
// own host_interrupt import and starts over. The host then may panic, which
// unwinds the module's stack. The instructions that fill or copy memory are no
// loops of the module; each takes from the counter by the bytes that it moves.
// The counter costs 5 %; wazero's own way to stop a module,
// WithCloseOnContextDone, makes it six times as slow.
//
// QuickJS has no hook either for what runs after an await; in the same pass the
// module gets one, so that the host can follow asynchronous code (follow.go) and
// keep apart the requests that share a machine (owner.go). Regular expressions are
// looked for faster (search.go), texts as well (text.go), and elements are moved
// within an array faster (array.go). Each instruction of bytecode finds the next by one
// table instead of two, unasked whether it is to be printed (dispatch.go), in a loop that
// keeps little alive and asks the counter where it may lead back alone (interpreter.go),
// values that are not counted are let go of without a look at the runtime (release.go), and
// the host is called without copies of its arguments (hostcall.go).
// Faults are corrected: of regular expressions
// (regexp.go), hash tables (hash.go), BigInts (bigint.go), proxies (proxy.go), copied
// properties (assign.go), constructors that are made (construct.go) and divisions that were
// taken for expressions (division.go); dates are read by the host (date.go), built-in
// functions read as elsewhere (native.go), and calls that are too deep say where
// (overflow.go), as patterns do that have nothing to take apart (pattern.go).
//
// In: the bytes of a core WebAssembly module that imports the function
// env.host_interrupt () -> i32, whose result does not matter here, and that has
// a section of globals. Out: the bytes of the rewritten module. What is not such
// a module, or uses an instruction that this package does not know, is
// an error. Pure and safe for concurrent use.
package fuel

import (
	"bytes"
	"errors"
)

// Period is how many loop iterations pass between two calls of host_interrupt.
// An iteration takes some 1 to 100 ns, so that a period is a millisecond at most.
const Period = 10_000

// Sections of a module, in the numbering of the WebAssembly core specification.
const (
	sectionType     = 1
	sectionImport   = 2
	sectionFunction = 3
	sectionGlobal   = 6
	sectionExport   = 7
	sectionCode     = 10
	sectionData     = 11
)

var header = []byte("\x00asm\x01\x00\x00\x00")

// Instrument returns module with a fuel counter at the head of every loop and,
// if it is QuickJS, with what lets the host follow asynchronous code.
func Instrument(module []byte) ([]byte, error) {
	if !bytes.HasPrefix(module, header) {
		return nil, errors.New("not a WebAssembly module of version 1")
	}
	l, err := readLayout(module)
	if err != nil {
		return nil, err
	}
	if l.globals == 0 {
		return nil, errors.New("the module has no global section to put the counter in")
	}
	f, err := l.follow()
	if err != nil {
		return nil, err
	}
	counter := l.imports.globals + l.globals
	p := probe{counter: counter, length: counter + 1, interrupt: uint32(l.imports.interrupt)}
	if f != nil {
		f.counter, f.global, f.owners.global = counter, counter+2, counter+3
	}
	return rewrite(module, l, p, f)
}

// rewrite copies the module section by section. f may be nil.
func rewrite(module []byte, l layout, p probe, f *follower) ([]byte, error) {
	in, out := &reader{b: module, at: len(header)}, bytes.Clone(header)
	for !in.done() && in.err == nil {
		id := in.byte()
		body := in.vector()
		if in.err != nil {
			break
		}
		switch {
		case id == sectionGlobal:
			body, in.err = addGlobals(body, f)
		case id == sectionCode:
			body, in.err = instrumentCode(body, l, p, f)
		case id == sectionFunction && f != nil:
			body, in.err = f.addFunctions(body)
		case id == sectionExport && f != nil:
			body, in.err = f.addExports(body)
		case id == sectionData && f != nil:
			body = onOneLine(body)
		}
		out = append(out, id)
		out = appendU32(out, uint32(len(body)))
		out = append(out, body...)
	}
	if in.err != nil {
		return nil, in.err
	}
	return out, nil
}

// addGlobals appends a mutable i32 that starts at Period, one for the length of
// what is moved and, for f, two more.
func addGlobals(body []byte, f *follower) ([]byte, error) {
	r := &reader{b: body}
	n := r.u32()
	if r.err != nil {
		return nil, r.err
	}
	added := []int32{Period, 0}
	if f != nil {
		added = append(added, 0, 0)
	}
	out := append(appendU32(nil, n+uint32(len(added))), body[r.at:]...)
	for _, first := range added {
		out = append(out, 0x7f, 0x01, opI32Const)
		out = append(appendS32(out, first), opEnd)
	}
	return out, nil
}
