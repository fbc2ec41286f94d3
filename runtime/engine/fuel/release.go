package fuel

import (
	"bytes"
	"slices"
)

// This file shortens how QuickJS lets go of a value. Each instruction that overwrites one
// calls JS_FreeValue, which calls JS_FreeValueRT, which makes room on its stack before it
// looks: most values are numbers and such, of which nothing is counted, or have other
// references. Here both look first, and set_value looks before it calls them.

// uncounted is whether nothing is counted of the value on the stack: what is has a tag of at
// least -9 in its upper half, and its references lie before it.
//
//	i64.const -9<<32, i64.lt_u
var uncounted = []byte{opI64Const, 0x80, 0x80, 0x80, 0x80, 0xf0, 0x7e, opI64LtU}

// looking is how JS_FreeValueRT (runtime i32, value i64) does, after it made room:
//
//	local.get value, uncounted, br_if 0, local.get value, i32.wrap_i64
var looking = slices.Concat([]byte{opLocalGet, 1}, uncounted, []byte{opBrIf, 0, opLocalGet, 1, opWrap})

// passing is JS_FreeValue (context i32, value i64) before its number of JS_FreeValueRT:
//
//	local.get context, i32.load runtime, local.get value, call
var passing = []byte{0, opLocalGet, 0, opI32Load, 2, 8, opLocalGet, 1, opCall}

// storing and lettingGo are set_value (context i32, place i32, value i64) before its number
// of JS_FreeValue:
//
//	before = i64.load place, i64.store place value
//	local.get context, local.get before, call
var (
	storing = []byte{
		1, 1, typeI64, opLocalGet, 1, opI64Load, 3, 0, opLocalSet, 3, opLocalGet, 1, opLocalGet, 2, opI64Store, 3, 0,
	}
	lettingGo = []byte{opLocalGet, 0, opLocalGet, 3, opCall}
)

// releasing is the three with a look before what they do:
//
//	if value < -9<<32 { return }
//
// and the two that let go of it also with
//
//	if references = load(value-4); references > 1 { store(value-4, references-1); return }
func (l layout) releasing(i int, code []byte) []byte {
	index := l.imports.funcs + uint32(i)
	const at, references = 2, 3 // locals
	switch {
	case bytes.HasPrefix(code, slices.Concat(storing, lettingGo)):
		return append(appendLook(slices.Clone(code[:len(storing)]), 3), code[len(storing):]...)
	case index == l.exports["JS_FreeValue"] && bytes.HasPrefix(code, passing):
		code = slices.Concat([]byte{1, 2, typeI32}, code[1:])
	case index == l.exports["JS_FreeValueRT"] && bytes.Contains(code, looking) && code[1] > 2 && code[2] == typeI32:
	default:
		return code
	}
	r := &reader{b: code}
	r.locals()
	out := appendLook(slices.Clone(code[:r.at]), 1)
	out = append(out, opLocalGet, 1, opWrap, opI32Const, 4, opI32Sub, opLocalTee, at)
	out = append(out, opI32Load, 2, 0, opLocalTee, references, opI32Const, 1, opI32GtS, opIf, blockEmpty)
	out = append(out, opLocalGet, at, opLocalGet, references, opI32Const, 1, opI32Sub, opI32Store, 2, 0, opReturn, opEnd)
	return append(out, code[r.at:]...)
}

// appendLook appends the return for a value, in a local, of which nothing is counted.
func appendLook(out []byte, value byte) []byte {
	out = append(append(out, opLocalGet, value), uncounted...)
	return append(out, opIf, blockEmpty, opReturn, opEnd)
}
