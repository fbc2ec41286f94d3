package quickjspatch

import (
	"bytes"
	"slices"

	"github.com/pages-toolchain/pages/runtime/wasmbinary"
	"github.com/pages-toolchain/pages/runtime/wasmbinary/op"
)

// This file makes the release of values faster. Each instruction that overwrites a value calls JS_FreeValue, which calls
// JS_FreeValueRT, which makes a stack frame before it checks the value: most are numbers and the like, without a reference
// count, or have other references. Here both check first, and set_value checks before it calls them.

// isUncounted checks whether the value on the stack has no reference count: a counted one has a tag of at least -9 in its
// upper half, and its count lies before it.
//
//	i64.const -9<<32, i64.lt_u
var isUncounted = []byte{op.I64Const, 0x80, 0x80, 0x80, 0x80, 0xf0, 0x7e, op.I64LtU}

// freeValueRTCheck is the check of JS_FreeValueRT (runtime i32, value i64), after it made its frame:
//
//	local.get value, uncounted, br_if 0, local.get value, i32.wrap_i64
var freeValueRTCheck = slices.Concat([]byte{op.LocalGet, 1}, isUncounted, []byte{op.BrIf, 0, op.LocalGet, 1, op.I32WrapI64})

// freeValueCall is JS_FreeValue (context i32, value i64) before its index of JS_FreeValueRT:
//
//	local.get context, i32.load runtime, local.get value, call
var freeValueCall = []byte{0, op.LocalGet, 0, op.I32Load, 2, 8, op.LocalGet, 1, op.Call}

// setValueStore and setValueFree are set_value (context i32, address i32, value i64) before its index of JS_FreeValue:
//
//	before = i64.load address, i64.store address value
//	local.get context, local.get before, call
var (
	setValueStore = []byte{
		1, 1, typeI64, op.LocalGet, 1, op.I64Load, 3, 0, op.LocalSet, 3, op.LocalGet, 1, op.LocalGet, 2, op.I64Store, 3, 0,
	}
	setValueFree = []byte{op.LocalGet, 0, op.LocalGet, 3, op.Call}
)

// inlineFree returns the three functions with a check before their code:
//
//	if value < -9<<32 { return }
//
// and the two that free the value also with
//
//	if references = load(value-4); references > 1 { store(value-4, references-1); return }
func (l layout) inlineFree(i int, code []byte) []byte {
	index := l.imports.funcs + uint32(i)
	const at, references = 2, 3 // locals
	switch {
	case bytes.HasPrefix(code, slices.Concat(setValueStore, setValueFree)):
		return append(appendReturnUnlessCounted(slices.Clone(code[:len(setValueStore)]), 3), code[len(setValueStore):]...)
	case index == l.exports["JS_FreeValue"] && bytes.HasPrefix(code, freeValueCall):
		code = slices.Concat([]byte{1, 2, typeI32}, code[1:])
	case index == l.exports["JS_FreeValueRT"] && bytes.Contains(code, freeValueRTCheck) && code[1] > 2 && code[2] == typeI32:
	default:
		return code
	}
	r := &wasmbinary.Reader{Bytes: code}
	skipLocals(r)
	out := appendReturnUnlessCounted(slices.Clone(code[:r.At]), 1)
	out = append(out, op.LocalGet, 1, op.I32WrapI64, op.I32Const, 4, op.I32Sub, op.LocalTee, at)
	out = append(out, op.I32Load, 2, 0, op.LocalTee, references, op.I32Const, 1, op.I32GtS, op.If, op.BlockEmpty)
	out = append(out, op.LocalGet, at, op.LocalGet, references, op.I32Const, 1, op.I32Sub, op.I32Store, 2, 0, op.Return, op.End)
	return append(out, code[r.At:]...)
}

// appendReturnUnlessCounted appends the return for a value, in a local, without a reference count.
func appendReturnUnlessCounted(out []byte, value byte) []byte {
	out = append(append(out, op.LocalGet, value), isUncounted...)
	return append(out, op.If, op.BlockEmpty, op.Return, op.End)
}
