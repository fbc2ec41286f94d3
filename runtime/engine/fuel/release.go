package fuel

import (
	"bytes"
	"slices"
)

// This file shortens how QuickJS lets go of a value. Each instruction that overwrites one
// calls JS_FreeValue, which calls JS_FreeValueRT, which makes room on its stack before it
// looks: most values are numbers and such, of which nothing is counted, or have other
// references. Here both look first.

// released is how JS_FreeValueRT (runtime i32, value i64) looks, after it made room: what
// counts has a tag of at least -9 in its upper half, and its references lie before it.
//
//	local.get value, i64.const -9<<32, i64.lt_u, br_if 0, local.get value, i32.wrap_i64
var released = []byte{opLocalGet, 1, opI64Const, 0x80, 0x80, 0x80, 0x80, 0xf0, 0x7e, opI64LtU, opBrIf, 0, opLocalGet, 1, opWrap}

// passing is JS_FreeValue (context i32, value i64) before its number of JS_FreeValueRT:
//
//	local.get context, i32.load runtime, local.get value, call
var passing = []byte{0, opLocalGet, 0, opI32Load, 2, 8, opLocalGet, 1, opCall}

// releasing is both with a look before what they do:
//
//	if value < -9<<32 { return }
//	if references = load(value-4); references > 1 { store(value-4, references-1); return }
func (l layout) releasing(i int, code []byte) []byte {
	index := l.imports.funcs + uint32(i)
	const at, references = 2, 3 // locals
	switch {
	case index == l.exports["JS_FreeValue"] && bytes.HasPrefix(code, passing):
		code = slices.Concat([]byte{1, 2, typeI32}, code[1:])
	case index == l.exports["JS_FreeValueRT"] && bytes.Contains(code, released) && code[1] > 2 && code[2] == typeI32:
	default:
		return code
	}
	r := &reader{b: code}
	r.locals()
	out := append(slices.Clone(code[:r.at]), released[:len(released)-5]...)
	out = append(out, opIf, blockEmpty, opReturn, opEnd)
	out = append(out, opLocalGet, 1, opWrap, opI32Const, 4, opI32Sub, opLocalTee, at)
	out = append(out, opI32Load, 2, 0, opLocalTee, references, opI32Const, 1, opI32GtS, opIf, blockEmpty)
	out = append(out, opLocalGet, at, opLocalGet, references, opI32Const, 1, opI32Sub, opI32Store, 2, 0, opReturn, opEnd)
	return append(out, code[r.at:]...)
}
