package quickjspatch

import (
	"bytes"
	"errors"

	"github.com/pages-toolchain/pages/runtime/wasmbinary"
	"github.com/pages-toolchain/pages/runtime/wasmbinary/op"
)

// This file makes moves within arrays fast, as of splice and unshift. QuickJS holds the elements of an array in one row as
// long as none is missing, and in a table of properties from then on, for good; and it moves the elements of a row one at a
// time. There are three new functions:
//
//   - JS_CopySubArrays (context, array, to, from, length, direction) -> int first lengthens a row that it is to move beyond
//     its end (lengthenBody): it would begin with the last element, and leave a gap.
//   - It moves as many elements as it can in one instruction (moveBody).
//   - JS_DeletePropertyInt64 (context, object, index) -> int takes the last element off a row (takeLastBody), instead of
//     making a table of it.
//
// And a call takes about as many arguments as V8's stack allows: QuickJS refuses the array of 65,536 bytes that programs
// often pass to String.fromCharCode.apply. Its js_build_arg_list (context, address of the length, array) -> array has the
// limit.
//
// None of these is exported: each is the one function of its type with the instructions below.

// Offsets in a JSObject that is an array, in bytes.
const (
	ObjectFlags = 8
	FastArray   = 16 // of the flags: its elements are a row
	arrayClass  = 2
	ArrayValues = 28
	ArrayCount  = 32
	valueShift  = 3 // an element is eight bytes
)

const (
	copyType      = "\x60\x06\x7f\x7e\x7e\x7e\x7e\x7f\x01\x7f"
	deleteType    = "\x60\x03\x7f\x7e\x7e\x01\x7f"
	valuesType    = "\x60\x05\x7f\x7f\x7f\x7f\x7f\x01\x7e"
	argumentsType = "\x60\x03\x7f\x7f\x7e\x01\x7f"

	// maxArguments is the limit of a call's arguments; V8's stack of 984 KiB holds 125,000.
	maxArguments = 1 << 17
)

var (
	// copyLoop is the begin of a move in JS_CopySubArrays: local 14 = the offset of the target, loop. Local 15 is the array, 5
	// the offset of the source and 6 the number of elements.
	copyLoop = []byte{op.LocalGet, 8, op.I32WrapI64, op.I32Const, valueShift, op.I32Shl, op.LocalSet, 14, op.Loop, op.BlockEmpty}
	// deleteHead is the begin of JS_DeletePropertyInt64: if index <= 1<<31-1.
	deleteHead = []byte{op.LocalGet, 2, op.I64Const, 0xff, 0xff, 0xff, 0xff, 0x07, op.I64LeU, op.If, op.BlockEmpty}
	// undefined is QuickJS's value.
	undefined = []byte{op.I64Const, 0x80, 0x80, 0x80, 0x80, 0x30}
)

// arrayMover is the functions of this file. copying, deleting and arguing are of the module's own.
type arrayMover struct {
	copying, deleting, arguing       int
	copyType, deleteType, valuesType uint32
	free, dup, set                   uint32 // JS_FreeValue, JS_DupValue, JS_SetPropertyInt64
}

func (l layout) arrayMover() (m arrayMover, err error) {
	var found [3]bool
	for i, name := range []string{"JS_FreeValue", "JS_DupValue", "JS_SetPropertyInt64"} {
		*[]*uint32{&m.free, &m.dup, &m.set}[i], found[i] = l.exports[name]
	}
	copying, deleting, values := l.typeIndex(copyType), l.typeIndex(deleteType), l.typeIndex(valuesType)
	if found != [3]bool{true, true, true} || copying < 0 || deleting < 0 || values < 0 {
		return m, errors.New("the module lacks the function that moves the elements of an array")
	}
	m.copyType, m.deleteType, m.valuesType = uint32(copying), uint32(deleting), uint32(values)
	if m.copying, err = l.uniqueFunction(copyType, copyLoop, 2); err != nil {
		return m, err
	}
	if m.deleting, err = l.uniqueFunction(deleteType, deleteHead, 1); err != nil {
		return m, err
	}
	m.arguing, err = l.uniqueFunction(argumentsType, argumentLimit(1<<16), 1)
	return m, err
}

// argumentLimit is the check of js_build_arg_list.
func argumentLimit(n int32) []byte { return append(op.AppendS32([]byte{op.I32Const}, n), op.I32GeU) }

// raiseArgumentLimit returns the code of js_build_arg_list with the greater limit.
func raiseArgumentLimit(code []byte) []byte {
	code = bytes.Replace(code, argumentLimit(1<<16), argumentLimit(maxArguments), 1)
	return bytes.ReplaceAll(code, op.AppendS32([]byte{op.I32Const}, 1<<16-1), op.AppendS32([]byte{op.I32Const}, maxArguments-1))
}

// insertMove returns the code of JS_CopySubArrays with the calls in it:
//
//	if lengthen(its own six) < 0 { return -1 }
//	…
//	local 6 = move(context, array, target, source, local 6)
//	loop
func (f *patcher) insertMove(code []byte) []byte {
	r := &wasmbinary.Reader{Bytes: code}
	skipLocals(r)
	out := appendGets(bytes.Clone(code[:r.At]), 0, 1, 2, 3, 4, 5)
	out = append(appendCall(out, f.function(arrayLengthen)), op.I32Const, 0, op.I32LtS, op.If, op.BlockEmpty)
	out = append(out, op.I32Const, 0x7f, op.Return, op.End)
	head := len(copyLoop) - 2
	call := append(appendGets(bytes.Clone(copyLoop[:head]), 0, 15, 14, 5, 6), op.I32WrapI64)
	call = append(appendCall(call, f.function(arrayMove)), op.LocalSet, 6)
	return append(out, bytes.ReplaceAll(code[r.At:], copyLoop, append(call, copyLoop[head:]...))...)
}

// insertTakeLast returns the code of JS_DeletePropertyInt64 with the call before it:
//
//	if takeLast(its own three) { return 1 }
func (f *patcher) insertTakeLast(code []byte) []byte {
	r := &wasmbinary.Reader{Bytes: code}
	skipLocals(r)
	out := appendGets(bytes.Clone(code[:r.At]), 0, 1, 2)
	out = append(appendCall(out, f.function(arrayTakeLast)), op.If, op.BlockEmpty, op.I32Const, 1, op.Return, op.End)
	return append(out, code[r.At:]...)
}

// appendUnlessRow leaves the block at depth 0 unless local 1, a value, is an array
// with a row. Its address comes to be in local array.
func appendUnlessRow(out []byte, array byte) []byte {
	out = append(appendGet(out, 1), op.I64Const, 0x80, 0x80, 0x80, 0x80, 0x70, op.I64LtU, op.BrIf, 0) // no object
	out = append(appendGet(out, 1), op.I32WrapI64, op.LocalTee, array, op.I32Load16U, 1, ObjectClass)
	out = append(out, op.I32Const, arrayClass, op.I32Ne, op.BrIf, 0)
	return append(appendGet(out, array), op.I32Load8U, 0, ObjectFlags, op.I32Const, FastArray, op.I32And, op.I32Eqz, op.BrIf, 0)
}

// lengthenBody is
//
//	if direction < 0 and array has a row, and from+length <= its count {
//		for at = its count; at < to+length and array has a row of at elements; at++ {
//			if JS_SetPropertyInt64(at, at < to ? undefined : the element at at-to+from) < 0 { return -1 }
//		}
//	}
//	0
func (m arrayMover) lengthenBody(p probe) []byte {
	const to, from, length, direction, array, at = 2, 3, 4, 5, 6, 7
	out := append(
		[]byte{2, 1, typeI32, 1, typeI64, op.Block, op.BlockEmpty}, op.LocalGet, direction, op.I32Const, 0, op.I32LtS,
		op.I32Eqz, op.BrIf, 0,
	)
	out = appendUnlessRow(out, array)
	count := append(appendGet(nil, array), op.I64Load32U, 2, ArrayCount)
	out = append(append(out, count...), op.LocalSet, at)
	out = append(appendGets(out, from, length), op.I64Add)
	out = append(appendGet(out, at), op.I64GtS, op.BrIf, 0)
	out = p.appendProbe(append(out, op.Loop, op.BlockEmpty))
	out = append(appendGet(out, at), op.LocalGet, to, op.LocalGet, length, op.I64Add, op.I64GeS, op.BrIf, 1)
	out = append(append(appendGet(out, at), count...), op.I64Ne, op.BrIf, 1)
	out = append(appendGet(out, array), op.I32Load8U, 0, ObjectFlags, op.I32Const, FastArray, op.I32And, op.I32Eqz, op.BrIf, 1)
	out = appendGets(out, 0, 1, at)
	out = append(appendGets(out, at, to), op.I64LtS, op.If, typeI64)
	out = append(append(out, undefined...), op.Else)
	out = append(appendGet(out, 0), op.LocalGet, array, op.I32Load, 2, ArrayValues)
	out = append(appendGets(out, at, to), op.I64Sub)
	out = append(appendGet(out, from), op.I64Add, op.I32WrapI64, op.I32Const, valueShift, op.I32Shl, op.I32Add, op.I64Load, 3, 0)
	out = append(appendCall(out, m.dup), op.End)
	out = append(
		appendCall(out, m.set), op.I32Const, 0, op.I32LtS, op.If, op.BlockEmpty, op.I32Const, 0x7f,
		op.Return, op.End,
	)
	out = append(appendGet(out, at), op.I64Const, 1, op.I64Add, op.LocalSet, at)
	return append(out, op.Br, 0, op.End, op.End, op.I32Const, 0, op.End)
}

// moveBody is, for the offsets of the first element in the direction of the move,
// backwards when the target lies after the source,
//
//	gap = |to - from|
//	if gap is half of the elements or more { return count } // one by one
//	low = the lower of the two ends // backwards, the first element is the last of the row
//	free the elements in the gap of the target: [low, +gap) or, backwards, [low+size, +gap)
//	move size bytes from low+gap to low or, backwards, from low to low+gap
//	dup the elements that are there twice: [low+size, +gap) or, backwards, [low, +gap)
//	0
func (m arrayMover) moveBody(f *patcher, p probe) []byte {
	const context, array, to, from, count = 0, 1, 2, 3, 4
	const gap, low, at, end, size, value = 5, 6, 7, 8, 9, 10
	backwards := append(appendGets(nil, from, to), op.I32LtS)
	// chosen appends a, or b backwards.
	chosen := func(out, a, b []byte) []byte {
		return append(append(append(append(out, b...), a...), backwards...), op.Select)
	}
	above := func(distance byte) []byte { return append(appendGets(nil, low, distance), op.I32Add) }
	get := func(a byte) []byte { return appendGet(nil, a) }
	address := func(out []byte) []byte { return append(appendGet(out, array), op.I32Load, 2, ArrayValues) }
	// each appends code that runs do on each element from at on, for a gap.
	each := func(out []byte, do func([]byte) []byte) []byte {
		out = append(append(append(out, op.LocalTee, at), get(gap)...), op.I32Add, op.LocalSet, end)
		out = append(p.appendProbe(append(out, op.Loop, op.BlockEmpty)), op.LocalGet, at, op.LocalGet, end, op.I32LtS, op.If, op.BlockEmpty)
		out = append(appendGet(do(out), at), op.I32Const, 1<<valueShift, op.I32Add, op.LocalSet, at)
		return append(out, op.Br, 1, op.End, op.End)
	}
	load := func(out []byte) []byte {
		return append(address(append(out, op.LocalGet, at)), op.I32Add, op.I64Load, 3, 0)
	}

	out := append([]byte{2, 5, typeI32, 1, typeI64}, op.LocalGet, count, op.I32Const, valueShift, op.I32Shl, op.LocalSet, size)
	out = chosen(out, append(appendGets(nil, from, to), op.I32Sub), append(appendGets(nil, to, from), op.I32Sub))
	out = append(out, op.LocalTee, gap, op.I32Const, 1, op.I32Shl)
	out = append(appendGet(out, size), op.I32GeU, op.If, op.BlockEmpty)
	out = append(appendGet(out, count), op.I64ExtendU, op.Return, op.End)
	out = chosen(out, get(to), append(append(get(from), op.LocalGet, size, op.I32Sub), op.I32Const, 1<<valueShift, op.I32Add))
	out = append(out, op.LocalSet, low)

	out = chosen(out, get(low), above(size))
	out = each(out, func(out []byte) []byte {
		out = append(load(out), op.LocalSet, value)
		out = append(append(address(append(out, op.LocalGet, at)), op.I32Add), undefined...)
		out = append(appendGets(append(out, op.I64Store, 3, 0), context, value), op.Call)
		return op.AppendU32(out, m.free)
	})
	out = append(address(chosen(out, get(low), above(gap))), op.I32Add)
	out = append(address(chosen(out, above(gap), get(low))), op.I32Add)
	out = appendCall(appendGet(out, size), f.function(copyMemory))
	out = chosen(out, above(size), get(low))
	out = each(out, func(out []byte) []byte {
		out = append(load(appendGet(out, context)), op.Call)
		return append(op.AppendU32(out, m.dup), op.Drop)
	})
	return append(out, op.I64Const, 0, op.End)
}

// takeLastBody is
//
//	if array has a row, and index is its count-1 {
//		its count = index; JS_FreeValue(the element at index); return 1
//	}
//	0
func (m arrayMover) takeLastBody() []byte {
	const context, index, array = 0, 2, 3
	out := appendUnlessRow([]byte{1, 1, typeI32, op.Block, op.BlockEmpty}, array)
	out = append(appendGet(out, array), op.I64Load32U, 2, ArrayCount, op.I64Const, 1, op.I64Sub)
	out = append(appendGet(out, index), op.I64Ne, op.BrIf, 0)
	out = append(appendGet(out, array), op.LocalGet, index, op.I32WrapI64, op.I32Store, 2, ArrayCount)
	out = append(appendGets(out, context, array), op.I32Load, 2, ArrayValues)
	out = append(appendGet(out, index), op.I32WrapI64, op.I32Const, valueShift, op.I32Shl, op.I32Add, op.I64Load, 3, 0, op.Call)
	return append(op.AppendU32(out, m.free), op.I32Const, 1, op.Return, op.End, op.I32Const, 0, op.End)
}
