package fuel

import (
	"bytes"
	"errors"
)

// This file keeps arrays fast whose elements are moved within them, as splice and
// unshift do. QuickJS holds the elements of an array in one row as long as none is
// missing, and in a table of properties from then on, for good; and it moves the
// elements of a row one at a time. Three new functions come in between:
//
//   - JS_CopySubArrays (context, array, to, from, length, direction) -> int first
//     lengthens a row that it is to move beyond its end (lengthenBody): it would begin
//     with the last element, and leave a gap.
//   - It moves as many elements as it can in one instruction (moveBody).
//   - JS_DeletePropertyInt64 (context, object, index) -> int takes the last element
//     off a row (takeLastBody), which made a table of it.
//
// And a call takes as many arguments as V8's stack has room for, give or take: QuickJS
// refuses the array of 65,536 bytes that String.fromCharCode.apply is often given. Its
// js_build_arg_list (context, address of the length, array) -> array holds the limit.
//
// None of these is exported: each is the one function of its type with the
// instructions below.

// Where things lie in a JSObject that is an array, in bytes.
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

	// maxArguments is how many arguments a call takes; V8's stack of 984 KiB holds 125,000.
	maxArguments = 1 << 17

	opI64Load   = 0x29
	opI64Load32 = 0x35
	opI64Store  = 0x37
	opI64LtS    = 0x53
	opI64GtS    = 0x55
	opI64LeU    = 0x58
	opI64GeS    = 0x59
	opI64Ne     = 0x52
	opI64Add    = 0x7c
	opI64Sub    = 0x7d
	opI64Extend = 0xad // unsigned
	typeI64     = 0x7e
)

var (
	// copyLoop is where JS_CopySubArrays begins to move a row: local 14 = the offset of
	// the target, loop. Local 15 is the array, 5 the offset of the source and 6 how many.
	copyLoop = []byte{opLocalGet, 8, opWrap, opI32Const, valueShift, opI32Shl, opLocalSet, 14, opLoop, blockEmpty}
	// deleteHead is how JS_DeletePropertyInt64 begins: if index <= 1<<31-1.
	deleteHead = []byte{opLocalGet, 2, opI64Const, 0xff, 0xff, 0xff, 0xff, 0x07, opI64LeU, opIf, blockEmpty}
	// undefined as QuickJS has it.
	undefined = []byte{opI64Const, 0x80, 0x80, 0x80, 0x80, 0x30}
)

// mover is where the calls of this file go. copying, deleting and arguing are of the
// module's own functions.
type mover struct {
	copying, deleting, arguing       int
	copyType, deleteType, valuesType uint32
	free, dup, set                   uint32 // JS_FreeValue, JS_DupValue, JS_SetPropertyInt64
}

func (l layout) mover() (m mover, err error) {
	var found [3]bool
	for i, name := range []string{"JS_FreeValue", "JS_DupValue", "JS_SetPropertyInt64"} {
		*[]*uint32{&m.free, &m.dup, &m.set}[i], found[i] = l.exports[name]
	}
	copying, deleting, values := l.typeIndex(copyType), l.typeIndex(deleteType), l.typeIndex(valuesType)
	if found != [3]bool{true, true, true} || copying < 0 || deleting < 0 || values < 0 {
		return m, errors.New("the module lacks what moves the elements of an array")
	}
	m.copyType, m.deleteType, m.valuesType = uint32(copying), uint32(deleting), uint32(values)
	if m.copying, err = l.only(copyType, copyLoop, 2); err != nil {
		return m, err
	}
	if m.deleting, err = l.only(deleteType, deleteHead, 1); err != nil {
		return m, err
	}
	m.arguing, err = l.only(argumentsType, argumentLimit(1<<16), 1)
	return m, err
}

// argumentLimit is how js_build_arg_list compares with its limit.
func argumentLimit(n int32) []byte { return append(appendS32([]byte{opI32Const}, n), opI32GeU) }

// manyArguments returns the code of js_build_arg_list with the greater limit.
func manyArguments(code []byte) []byte {
	code = bytes.Replace(code, argumentLimit(1<<16), argumentLimit(maxArguments), 1)
	return bytes.ReplaceAll(code, appendS32([]byte{opI32Const}, 1<<16-1), appendS32([]byte{opI32Const}, maxArguments-1))
}

// The functions of this file come after those of search.go.
func (f *follower) lengthenFunction() uint32 { return f.first + 8 }
func (f *follower) valuesFunction() uint32   { return f.first + 9 }
func (f *follower) takeLastFunction() uint32 { return f.first + 10 }

// moving returns the code of JS_CopySubArrays with the calls in it:
//
//	if lengthen(its own six) < 0 { return -1 }
//	…
//	local 6 = move(context, array, target, source, local 6)
//	loop
func (f *follower) moving(code []byte) []byte {
	r := &reader{b: code}
	r.locals()
	out := appendGets(bytes.Clone(code[:r.at]), 0, 1, 2, 3, 4, 5)
	out = append(appendU32(append(out, opCall), f.lengthenFunction()), opI32Const, 0, opI32LtS, opIf, blockEmpty)
	out = append(out, opI32Const, 0x7f, opReturn, opEnd)
	head := len(copyLoop) - 2
	call := append(appendGets(bytes.Clone(copyLoop[:head]), 0, 15, 14, 5, 6), opWrap)
	call = append(appendU32(append(call, opCall), f.valuesFunction()), opLocalSet, 6)
	return append(out, bytes.ReplaceAll(code[r.at:], copyLoop, append(call, copyLoop[head:]...))...)
}

// takingLast returns the code of JS_DeletePropertyInt64 with the call before it:
//
//	if takeLast(its own three) { return 1 }
func (f *follower) takingLast(code []byte) []byte {
	r := &reader{b: code}
	r.locals()
	out := appendGets(bytes.Clone(code[:r.at]), 0, 1, 2)
	out = append(appendU32(append(out, opCall), f.takeLastFunction()), opIf, blockEmpty, opI32Const, 1, opReturn, opEnd)
	return append(out, code[r.at:]...)
}

// appendUnlessRow leaves the block at depth 0 unless local 1, a value, is an array
// with a row. Its address comes to be in local array.
func appendUnlessRow(out []byte, array byte) []byte {
	out = append(appendGet(out, 1), opI64Const, 0x80, 0x80, 0x80, 0x80, 0x70, opI64LtU, opBrIf, 0) // no object
	out = append(appendGet(out, 1), opWrap, opLocalTee, array, opI32Load16U, 1, ObjectClass)
	out = append(out, opI32Const, arrayClass, opI32Ne, opBrIf, 0)
	return append(appendGet(out, array), opI32Load8U, 0, ObjectFlags, opI32Const, FastArray, opI32And, opI32Eqz, opBrIf, 0)
}

// lengthenBody is
//
//	if direction < 0 and array has a row, and from+length <= its count {
//		for at = its count; at < to+length and array has a row of at elements; at++ {
//			if JS_SetPropertyInt64(at, at < to ? undefined : the element at at-to+from) < 0 { return -1 }
//		}
//	}
//	0
func (m mover) lengthenBody(p probe) []byte {
	const to, from, length, direction, array, at = 2, 3, 4, 5, 6, 7
	out := append([]byte{2, 1, typeI32, 1, typeI64, opBlock, blockEmpty}, opLocalGet, direction, opI32Const, 0, opI32LtS, opI32Eqz, opBrIf, 0)
	out = appendUnlessRow(out, array)
	count := append(appendGet(nil, array), opI64Load32, 2, ArrayCount)
	out = append(append(out, count...), opLocalSet, at)
	out = append(appendGets(out, from, length), opI64Add)
	out = append(appendGet(out, at), opI64GtS, opBrIf, 0)
	out = p.append(append(out, opLoop, blockEmpty))
	out = append(appendGet(out, at), opLocalGet, to, opLocalGet, length, opI64Add, opI64GeS, opBrIf, 1)
	out = append(append(appendGet(out, at), count...), opI64Ne, opBrIf, 1)
	out = append(appendGet(out, array), opI32Load8U, 0, ObjectFlags, opI32Const, FastArray, opI32And, opI32Eqz, opBrIf, 1)
	out = appendGets(out, 0, 1, at)
	out = append(appendGets(out, at, to), opI64LtS, opIf, typeI64)
	out = append(append(out, undefined...), opElse)
	out = append(appendGet(out, 0), opLocalGet, array, opI32Load, 2, ArrayValues)
	out = append(appendGets(out, at, to), opI64Sub)
	out = append(appendGet(out, from), opI64Add, opWrap, opI32Const, valueShift, opI32Shl, opI32Add, opI64Load, 3, 0)
	out = append(appendU32(append(out, opCall), m.dup), opEnd)
	out = append(appendU32(append(out, opCall), m.set), opI32Const, 0, opI32LtS, opIf, blockEmpty, opI32Const, 0x7f, opReturn, opEnd)
	out = append(appendGet(out, at), opI64Const, 1, opI64Add, opLocalSet, at)
	return append(out, opBr, 0, opEnd, opEnd, opI32Const, 0, opEnd)
}

// moveBody is, for the offsets of the first element in the direction of the move,
// backwards when the target lies behind the source,
//
//	gap = |to - from|
//	if gap is half of the elements or more { return count } // one by one
//	low = the lower of the two ends // backwards, the first element is the last of the row
//	free what is in the gap of the target: [low, +gap) or, backwards, [low+size, +gap)
//	move size bytes from low+gap to low or, backwards, from low to low+gap
//	dup what is there twice: [low+size, +gap) or, backwards, [low, +gap)
//	0
func (m mover) moveBody(f *follower, p probe) []byte {
	const context, array, to, from, count = 0, 1, 2, 3, 4
	const gap, low, at, end, size, value = 5, 6, 7, 8, 9, 10
	backwards := append(appendGets(nil, from, to), opI32LtS)
	// chosen appends a, or b backwards.
	chosen := func(out, a, b []byte) []byte {
		return append(append(append(append(out, b...), a...), backwards...), opSelect)
	}
	above := func(distance byte) []byte { return append(appendGets(nil, low, distance), opI32Add) }
	get := func(a byte) []byte { return appendGet(nil, a) }
	address := func(out []byte) []byte { return append(appendGet(out, array), opI32Load, 2, ArrayValues) }
	// each appends what is done with the elements from at on, for a gap.
	each := func(out []byte, do func([]byte) []byte) []byte {
		out = append(append(append(out, opLocalTee, at), get(gap)...), opI32Add, opLocalSet, end)
		out = append(p.append(append(out, opLoop, blockEmpty)), opLocalGet, at, opLocalGet, end, opI32LtS, opIf, blockEmpty)
		out = append(appendGet(do(out), at), opI32Const, 1<<valueShift, opI32Add, opLocalSet, at)
		return append(out, opBr, 1, opEnd, opEnd)
	}
	load := func(out []byte) []byte {
		return append(address(append(out, opLocalGet, at)), opI32Add, opI64Load, 3, 0)
	}

	out := append([]byte{2, 5, typeI32, 1, typeI64}, opLocalGet, count, opI32Const, valueShift, opI32Shl, opLocalSet, size)
	out = chosen(out, append(appendGets(nil, from, to), opI32Sub), append(appendGets(nil, to, from), opI32Sub))
	out = append(out, opLocalTee, gap, opI32Const, 1, opI32Shl)
	out = append(appendGet(out, size), opI32GeU, opIf, blockEmpty)
	out = append(appendGet(out, count), opI64Extend, opReturn, opEnd)
	out = chosen(out, get(to), append(append(get(from), opLocalGet, size, opI32Sub), opI32Const, 1<<valueShift, opI32Add))
	out = append(out, opLocalSet, low)

	out = chosen(out, get(low), above(size))
	out = each(out, func(out []byte) []byte {
		out = append(load(out), opLocalSet, value)
		out = append(append(address(append(out, opLocalGet, at)), opI32Add), undefined...)
		out = append(appendGets(append(out, opI64Store, 3, 0), context, value), opCall)
		return appendU32(out, m.free)
	})
	out = append(address(chosen(out, get(low), above(gap))), opI32Add)
	out = append(address(chosen(out, above(gap), get(low))), opI32Add)
	out = appendU32(append(appendGet(out, size), opCall), f.copyFunction())
	out = chosen(out, above(size), get(low))
	out = each(out, func(out []byte) []byte {
		out = append(load(appendGet(out, context)), opCall)
		return append(appendU32(out, m.dup), opDrop)
	})
	return append(out, opI64Const, 0, opEnd)
}

// takeLastBody is
//
//	if array has a row, and index is its count-1 {
//		its count = index; JS_FreeValue(the element at index); return 1
//	}
//	0
func (m mover) takeLastBody() []byte {
	const context, index, array = 0, 2, 3
	out := appendUnlessRow([]byte{1, 1, typeI32, opBlock, blockEmpty}, array)
	out = append(appendGet(out, array), opI64Load32, 2, ArrayCount, opI64Const, 1, opI64Sub)
	out = append(appendGet(out, index), opI64Ne, opBrIf, 0)
	out = append(appendGet(out, array), opLocalGet, index, opWrap, opI32Store, 2, ArrayCount)
	out = append(appendGets(out, context, array), opI32Load, 2, ArrayValues)
	out = append(appendGet(out, index), opWrap, opI32Const, valueShift, opI32Shl, opI32Add, opI64Load, 3, 0, opCall)
	return append(appendU32(out, m.free), opI32Const, 1, opReturn, opEnd, opI32Const, 0, opEnd)
}
