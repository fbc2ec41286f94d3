package quickjspatch

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/pages-toolchain/pages/runtime/wasmbinary"
)

// layout is the parts of a module that the patches look up.
type layout struct {
	imports importSection
	types   [][]byte // as encoded
	funcs   []uint32 // types of the module's own functions
	exports map[string]uint32
	code    [][]byte
	globals uint32 // the module's own
	data    []segment
}

// segment is an active data segment.
type segment struct {
	address uint32
	bytes   []byte
}

// initialMemory returns n bytes of the initial memory; nil when no segment holds all of them.
func (l layout) initialMemory(address uint32, n int) []byte {
	for _, s := range l.data {
		if at := uint64(address) - uint64(s.address); address >= s.address && at+uint64(n) <= uint64(len(s.bytes)) {
			return s.bytes[at:][:n]
		}
	}
	return nil
}

// Types of values in instructions.
const (
	typeI32 = byte(wasmbinary.I32)
	typeI64 = byte(wasmbinary.I64)
)

// importSection is the imports: indices of two functions, -1 for none, and the numbers of functions and globals.
type importSection struct {
	interrupt, hostCall int64
	funcs, globals      uint32
	types               []uint32
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

// hasType reports whether the module's own function i has an encoded type.
func (l layout) hasType(i int, encoded string) bool {
	return l.funcs[i] < uint32(len(l.types)) && string(l.types[l.funcs[i]]) == encoded
}

// uniqueFunction returns the module's only own function of an encoded type that has the instructions so many times.
func (l layout) uniqueFunction(encoded string, instructions []byte, times int) (int, error) {
	found, n := 0, 0
	for i, code := range l.code {
		if l.hasType(i, encoded) && bytes.Count(code, instructions) == times {
			found, n = i, n+1
		}
	}
	if n != 1 {
		return 0, fmt.Errorf("the module has %d functions of the type %x with the instructions %x, not one", n, encoded, instructions)
	}
	return found, nil
}

// typeIndex is the index of an encoded type, -1 without it.
func (l layout) typeIndex(encoded string) int {
	return slices.IndexFunc(l.types, func(t []byte) bool { return string(t) == encoded })
}

// onlyFunction returns the index of the one function of the module's own that has a type; not ok for none or several.
func (l layout) onlyFunction(typ uint32) (f uint32, ok bool) {
	n := slices.Index(l.funcs, typ)
	return l.imports.funcs + uint32(n), n >= 0 && !slices.Contains(l.funcs[n+1:], typ)
}

// readLayout reads the layout of a module.
func readLayout(module []byte) (layout, error) {
	m, err := wasmbinary.Parse(module)
	if err != nil {
		return layout{}, err
	}
	l := layout{
		imports: importSection{
			interrupt: -1, hostCall: -1, funcs: uint32(m.ImportedFuncs), globals: uint32(m.ImportedGlobals),
			types: m.Funcs[:m.ImportedFuncs],
		},
		funcs:   m.OwnFuncs,
		exports: map[string]uint32{},
		globals: uint32(len(m.OwnGlobals)),
	}
	for _, t := range m.Types {
		l.types = append(l.types, t.Encode())
	}
	for _, in := range m.Imports {
		switch {
		case in.Kind != wasmbinary.Func || in.Module != "env":
		case in.Name == "host_interrupt":
			l.imports.interrupt = int64(in.Index)
		case in.Name == "host_call":
			l.imports.hostCall = int64(in.Index)
		}
	}
	for _, e := range m.Exports {
		if e.Kind == wasmbinary.Func && e.Index >= l.imports.funcs {
			l.exports[e.Name] = e.Index
		}
	}
	for _, body := range m.Bodies {
		l.code = append(l.code, body.Bytes)
	}
	for _, d := range m.Data {
		if address := d.Offset.Constant(); d.Active && address >= 0 {
			l.data = append(l.data, segment{uint32(address), d.Bytes})
		}
	}
	var faults []error
	if l.imports.interrupt < 0 {
		faults = append(faults, errors.New("the module does not import env.host_interrupt"))
	}
	if len(l.code) == 0 {
		faults = append(faults, errors.New("the module has no code"))
	}
	return l, errors.Join(faults...)
}
