package fuel

import (
	"bytes"
	"errors"
	"fmt"
)

// layout is what the passes need to know of a module before they rewrite it.
type layout struct {
	imports importSection
	types   [][]byte // as they are encoded
	funcs   []uint32 // types of the module's own functions
	exports map[string]uint32
	code    [][]byte
	globals uint32 // the module's own
	data    []segment
}

// segment is what is laid out in the memory at first.
type segment struct {
	address uint32
	bytes   []byte
}

// memory is what n bytes of the memory are at first; nil when no segment holds all of them.
func (l layout) memory(address uint32, n int) []byte {
	for _, s := range l.data {
		if at := uint64(address) - uint64(s.address); address >= s.address && at+uint64(n) <= uint64(len(s.bytes)) {
			return s.bytes[at:][:n]
		}
	}
	return nil
}

// importSection is what is imported: indices of functions, -1 for none, and how
// many functions and globals there are.
type importSection struct {
	interrupt, hostCall int64
	funcs, globals      uint32
	types               []uint32
	err                 error
}

// typeOf is the type of function f, imported or not.
func (l layout) typeOf(f uint32) uint32 {
	if f < l.imports.funcs {
		return l.imports.types[f]
	}
	if own := f - l.imports.funcs; own < uint32(len(l.funcs)) {
		return l.funcs[own]
	}
	return ^uint32(0)
}

// isOfType reports whether function i of the module's own is of a type, as it is encoded.
func (l layout) isOfType(i int, encoded string) bool {
	return l.funcs[i] < uint32(len(l.types)) && string(l.types[l.funcs[i]]) == encoded
}

// only is the one function of the module's own, of a type as it is encoded, that has
// the instructions times over.
func (l layout) only(encoded string, instructions []byte, times int) (int, error) {
	found, n := 0, 0
	for i, code := range l.code {
		if l.isOfType(i, encoded) && bytes.Count(code, instructions) == times {
			found, n = i, n+1
		}
	}
	if n != 1 {
		return 0, fmt.Errorf("the module has %d functions of the type %x with the instructions %x, not one", n, encoded, instructions)
	}
	return found, nil
}

// readLayout reads the sections that matter here.
func readLayout(module []byte) (l layout, err error) {
	in := &reader{b: module, at: len(header)}
	for !in.done() && in.err == nil {
		id := in.byte()
		r := &reader{b: in.vector()}
		switch id {
		case sectionType:
			l.types = readTypes(r)
		case sectionImport:
			l.imports = readImports(r)
			in.err = l.imports.err
		case sectionFunction:
			for n := r.u32(); n > 0 && r.err == nil; n-- {
				l.funcs = append(l.funcs, r.u32())
			}
		case sectionGlobal:
			l.globals = r.u32()
		case sectionExport:
			l.exports = readExports(r)
		case sectionCode:
			for n := r.u32(); n > 0 && r.err == nil; n-- {
				l.code = append(l.code, r.vector())
			}
		case sectionData:
			l.data = readData(r)
		}
		if in.err == nil {
			in.err = r.err
		}
	}
	if in.err == nil {
		in.err = l.check()
	}
	return l, in.err
}

// readData reads the segments up to the first that is not laid out at once.
func readData(r *reader) (segments []segment) {
	for n := r.u32(); n > 0 && r.err == nil; n-- {
		if r.u32() != 0 || r.byte() != opI32Const {
			return segments
		}
		start := r.s32()
		r.byte() // the end of the expression
		if bytes := r.vector(); r.err == nil {
			segments = append(segments, segment{uint32(start), bytes})
		}
	}
	return segments
}

// check refuses a layout whose indices lead nowhere.
func (l layout) check() error {
	if len(l.code) == 0 {
		return errors.New("the module has no code")
	}
	if len(l.code) != len(l.funcs) {
		return fmt.Errorf("the module has %d functions and code for %d", len(l.funcs), len(l.code))
	}
	for name, f := range l.exports {
		if f < l.imports.funcs || f-l.imports.funcs >= uint32(len(l.code)) {
			delete(l.exports, name)
		}
	}
	return nil
}

func readTypes(r *reader) (types [][]byte) {
	for n := r.u32(); n > 0 && r.err == nil; n-- {
		start := r.at
		r.byte()
		r.vector()
		r.vector()
		if r.err == nil {
			types = append(types, r.b[start:r.at])
		}
	}
	return types
}

func readImports(r *reader) importSection {
	s := importSection{interrupt: -1, hostCall: -1}
	for n := r.u32(); n > 0 && r.err == nil; n-- {
		module, name := string(r.vector()), string(r.vector())
		switch kind := r.byte(); kind {
		case 0x00:
			switch {
			case module == "env" && name == "host_interrupt":
				s.interrupt = int64(s.funcs)
			case module == "env" && name == "host_call":
				s.hostCall = int64(s.funcs)
			}
			s.types = append(s.types, r.u32())
			s.funcs++
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
	if s.err = r.err; s.err == nil && s.interrupt < 0 {
		s.err = errors.New("the module does not import env.host_interrupt")
	}
	return s
}

// readExports returns the functions that are exported.
func readExports(r *reader) map[string]uint32 {
	functions := map[string]uint32{}
	for n := r.u32(); n > 0 && r.err == nil; n-- {
		name, kind, index := string(r.vector()), r.byte(), r.u32()
		if kind == exportFunc {
			functions[name] = index
		}
	}
	return functions
}
