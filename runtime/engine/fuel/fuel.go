// Package fuel rewrites a WebAssembly module so that its host hears of every
// long computation.
//
// QuickJS asks its interrupt handler between JavaScript instructions only: a
// native built-in ([].join of fifty million holes, a quadratic indexOf) runs on
// for seconds unheard, and wazero's machine code cannot be preempted, so it
// also holds up Go's garbage collector. [Instrument] puts a counter at the head
// of every loop of the module; when the counter runs out the module calls its
// own host_interrupt import and starts over. The host then may panic, which
// unwinds the module's stack.
//
// In: the bytes of a core WebAssembly module that imports the function
// env.host_interrupt () -> i32. Out: the bytes of the rewritten module. What is
// not a module, or uses an instruction that this package does not know, is an
// error. Pure and safe for concurrent use.
package fuel

import (
	"bytes"
	"errors"
	"fmt"
)

// Period is how many loop iterations pass between two calls of host_interrupt.
// At some 1 to 5 ns an iteration a period is well under a millisecond.
const Period = 200_000

// Sections of a module, in the numbering of the WebAssembly core specification.
const (
	sectionImport = 2
	sectionGlobal = 6
	sectionCode   = 10
)

var header = []byte("\x00asm\x01\x00\x00\x00")

// Instrument returns module with a fuel counter at the head of every loop.
func Instrument(module []byte) ([]byte, error) {
	if !bytes.HasPrefix(module, header) {
		return nil, errors.New("not a WebAssembly module of version 1")
	}
	var (
		in      = &reader{b: module, at: len(header)}
		out     = bytes.Clone(header)
		imports importSection
		counter uint32
		coded   bool
	)
	for !in.done() && in.err == nil {
		id := in.byte()
		body := in.vector()
		if in.err != nil {
			break
		}
		switch id {
		case sectionImport:
			imports = readImports(body)
			in.err = imports.err
		case sectionGlobal:
			body, counter, in.err = addGlobal(body, imports.globals)
		case sectionCode:
			if counter == 0 && imports.globals == 0 {
				return nil, errors.New("the module has no global section to put the counter in")
			}
			body, in.err = instrumentCode(body, probe{counter: counter, interrupt: imports.interrupt})
			coded = true
		}
		out = append(out, id)
		out = appendU32(out, uint32(len(body)))
		out = append(out, body...)
	}
	if in.err != nil {
		return nil, in.err
	}
	if !coded {
		return nil, errors.New("the module has no code")
	}
	return out, nil
}

// importSection is what the pass needs of the import section: the index of
// env.host_interrupt among the functions, and how many globals are imported.
type importSection struct {
	interrupt uint32
	globals   uint32
	err       error
}

func readImports(body []byte) (s importSection) {
	r := &reader{b: body}
	var funcs uint32
	found := false
	for n := r.u32(); n > 0 && r.err == nil; n-- {
		module, name := string(r.vector()), string(r.vector())
		switch kind := r.byte(); kind {
		case 0x00:
			r.u32()
			if module == "env" && name == "host_interrupt" {
				s.interrupt, found = funcs, true
			}
			funcs++
		case 0x01:
			r.byte()
			r.limits()
		case 0x02:
			r.limits()
		case 0x03:
			r.skip(2)
			s.globals++
		default:
			s.err = fmt.Errorf("import %s.%s is of the unknown kind %#x", module, name, kind)
			return s
		}
	}
	if s.err = r.err; s.err == nil && !found {
		s.err = errors.New("the module does not import env.host_interrupt")
	}
	return s
}

// addGlobal appends a mutable i32 that starts at Period and returns its index.
func addGlobal(body []byte, imported uint32) ([]byte, uint32, error) {
	r := &reader{b: body}
	n := r.u32()
	if r.err != nil {
		return nil, 0, r.err
	}
	out := appendU32(nil, n+1)
	out = append(out, body[r.at:]...)
	out = append(out, 0x7f, 0x01, opI32Const)
	out = appendS32(out, Period)
	out = append(out, opEnd)
	return out, imported + n, nil
}
