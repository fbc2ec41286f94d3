package fuel

import (
	"bytes"
	"errors"
)

// This file makes texts fast that are looked for in a text. QuickJS compares at one
// position after the other, and asks for each character where the text lies. Three new
// functions come in between:
//
//   - String.prototype.indexOf and includes step to the next position that has the first
//     character (skipBody).
//   - string_indexof_char (text, unit, from) -> index or -1, by which replaceAll and
//     split look as well, compares sixteen bytes at once (unitBody).
//   - The comparison of two parts (text, other, from, other's from, length) -> difference
//     takes texts of one byte a unit as they lie (partBody).
//
// None of these is exported. The first two are the functions of their type with the
// loops below; the others are what those call, and what has its instructions.

const (
	methodType = "\x60\x05\x7f\x7e\x7f\x7f\x7f\x01\x7e" // of what a program calls
	partType   = "\x60\x05\x7f\x7f\x7f\x7f\x7f\x01\x7f"
	unitType   = "\x60\x03\x7f\x7f\x7f\x01\x7f"
	skipType   = "\x60\x04\x7f\x7f\x7f\x7f\x01\x7f"

	// textLength are the bits of the first word of a text that are its length; the sign
	// says that a unit has two bytes.
	textLength = 1<<31 - 1
	// lanes are the bytes that are compared at once.
	lanes = 16

	opI32GtU     = 0x4b
	opI32Ctz     = 0x68
	opI32Or      = 0x72
	opVector     = 0xfd
	vectorLoad   = 0
	vectorSplat8 = 15
	vectorEqual8 = 35
	vectorMask   = 100
	typeV128     = 0x7b
)

var (
	// indexOfLoop is: loop, block, compare(text 10, other 9, from 3, 0, length 6).
	indexOfLoop = []byte{opLoop, blockEmpty, opBlock, blockEmpty, opLocalGet, 10, opLocalGet, 9, opLocalGet, 3, opI32Const, 0, opLocalGet, 6, opCall}
	// includesLoop is: loop, compare(text 8, other 9, from 5, 0, length 3).
	includesLoop = []byte{opLoop, blockEmpty, opLocalGet, 8, opLocalGet, 9, opLocalGet, 5, opI32Const, 0, opLocalGet, 3, opCall}
)

// texter is where the calls of this file go. indexOf and includes are of the module's own functions.
type texter struct {
	indexOf, includes            int
	part, unit, get, data        uint32 // get (text, index) -> unit; data (text) -> address
	partType, unitType, skipType uint32
}

func (l layout) texter() (x texter, err error) {
	part, unit, skip := l.typeIndex(partType), l.typeIndex(unitType), l.typeIndex(skipType)
	if part < 0 || unit < 0 || skip < 0 {
		return x, errors.New("the module has no functions of the types that look for a text")
	}
	x.partType, x.unitType, x.skipType = uint32(part), uint32(unit), uint32(skip)
	if x.indexOf, err = l.only(methodType, indexOfLoop, 1); err != nil {
		return x, err
	}
	if x.includes, err = l.only(methodType, includesLoop, 1); err != nil {
		return x, err
	}
	code := l.code[x.indexOf]
	r := &reader{b: code, at: bytes.Index(code, indexOfLoop) + len(indexOfLoop)}
	x.part = r.u32()
	callee := x.part
	for _, first := range []*uint32{&x.get, &x.data} {
		if callee < l.imports.funcs || callee-l.imports.funcs >= uint32(len(l.code)) {
			return x, errors.New("the comparison of texts is not one of the module's own functions")
		}
		calls, err := callsOf(l.code[callee-l.imports.funcs])
		if err != nil || len(calls) == 0 {
			return x, errors.New("the comparison of texts does not ask where they lie")
		}
		*first, callee = calls[0], calls[0]
	}
	equal := appendU32([]byte{opLocalGet, 1, opLocalGet, 0, opCall}, x.data)
	n, err := l.only(unitType, append(equal, opLocalGet, 3, opI32Add, opI32Load16U, 1, 0, opI32Eq), 1)
	x.unit = l.imports.funcs + uint32(n)
	return x, err
}

// The functions of this file come after those of array.go.
func (f *follower) skipFunction() uint32 { return f.first + 11 }
func (f *follower) unitFunction() uint32 { return f.first + 12 }
func (f *follower) partFunction() uint32 { return f.first + 13 }

// skipping returns the code of indexOf or includes with, in its loop, forwards only:
//
//	from = skip(text, other, from, the last position)
func (f *follower) skipping(code []byte, includes bool) []byte {
	loop, at, out := indexOfLoop, 2, []byte{opLocalGet, 8, opI32Const, 1, opI32Eq, opIf, blockEmpty} // 8 is the step
	skip := append(appendU32(append(appendGets(nil, 10, 9, 3, 4), opCall), f.skipFunction()), opLocalSet, 3, opEnd)
	if includes {
		loop, out = includesLoop, nil
		skip = append(appendGets(nil, 8, 9, 5, 2), opI32Const, 1, opI32Sub, opCall) // 2 is behind the last position
		skip = append(appendU32(skip, f.skipFunction()), opLocalSet, 5)
	}
	out = append(append(bytes.Clone(loop[:at]), out...), skip...)
	return bytes.Replace(code, loop, append(out, loop[at:]...), 1)
}

// skipBody is
//
//	if from >= last or other is empty { return from }
//	at = unit(text, other[0], from) // -1 is the greatest
//	at > last ? last : at
func (f *follower) skipBody() []byte {
	const text, other, from, last, at = 0, 1, 2, 3, 4
	out := append(appendGets([]byte{1, 1, typeI32}, from, last), opI32GeS)
	out = appendS32(append(appendGet(out, other), opI32Load, 2, 0, opI32Const), textLength)
	out = append(append(out, opI32And, opI32Eqz, opI32Or, opIf, blockEmpty), opLocalGet, from, opReturn, opEnd)
	out = append(appendGets(out, last, text, other), opI32Const, 0, opCall)
	out = append(appendGet(appendU32(out, f.texter.get), from), opCall)
	out = append(appendU32(out, f.unitFunction()), opLocalTee, at)
	return append(appendGets(out, at, last), opI32GtU, opSelect, opEnd)
}

// unitBody is, with the bytes and the lanes of one unit,
//
//	if unit does not fit into the bytes { return -1 }
//	for at = data+from*bytes; at+16 <= end; at += 16 {
//		if mask = bytes of 16 at once that are equal; mask != 0 { return index of its first }
//	}
//	for ; at < end; at += bytes { if text[at] == unit { return its index } }
//	-1
func (f *follower) unitBody(p probe) []byte {
	const text, unit, from, data, at, end, mask, all = 0, 1, 2, 3, 4, 5, 6, 7
	out := []byte{2, 4, typeI32, 1, typeV128}
	out = append(appendU32(append(out, opLocalGet, text, opCall), f.texter.data), opLocalSet, data)
	each := func(shift, load byte) []byte {
		out := append(appendS32([]byte{opLocalGet, unit, opI32Const}, 1<<(8<<shift)-1), opI32GtU, opBrIf, 1)
		scaled := func(out []byte) []byte {
			return append(out, opI32Const, shift, opI32Shl, opLocalGet, data, opI32Add)
		}
		found := func(out []byte) []byte {
			return append(out, opLocalGet, data, opI32Sub, opI32Const, shift, opI32ShrU, opReturn)
		}
		out = append(scaled(append(out, opLocalGet, from)), opLocalSet, at)
		out = append(appendS32(append(out, opLocalGet, text, opI32Load, 2, 0, opI32Const), textLength), opI32And)
		out = append(scaled(out), opLocalSet, end)
		out = append(out, opLocalGet, unit, opVector, vectorSplat8+shift, opLocalSet, all)
		out = p.append(append(out, opBlock, blockEmpty, opLoop, blockEmpty))
		out = append(out, opLocalGet, at, opI32Const, lanes, opI32Add, opLocalGet, end, opI32GtU, opBrIf, 1)
		out = append(out, opLocalGet, at, opVector, vectorLoad, 0, 0, opLocalGet, all, opVector, vectorEqual8+10*shift)
		out = append(out, opVector, vectorMask, opLocalTee, mask, opIf, blockEmpty, opLocalGet, at, opLocalGet, mask, opI32Ctz, opI32Add)
		out = append(found(out), opEnd, opLocalGet, at, opI32Const, lanes, opI32Add, opLocalSet, at, opBr, 0, opEnd, opEnd)
		out = append(out, opLoop, blockEmpty, opLocalGet, at, opLocalGet, end, opI32GeU, opBrIf, 2)
		out = append(out, opLocalGet, at, load, shift, 0, opLocalGet, unit, opI32Eq, opIf, blockEmpty, opLocalGet, at)
		out = append(found(out), opEnd, opLocalGet, at, opI32Const, 1<<shift, opI32Add, opLocalSet, at, opBr, 0, opEnd)
		return out
	}
	out = append(out, opBlock, blockEmpty, opLocalGet, text, opI32Load, 2, 0, opI32Const, 0, opI32LtS, opIf, blockEmpty)
	out = append(append(out, each(1, opI32Load16U)...), opElse)
	out = append(append(out, each(0, opI32Load8U)...), opEnd, opEnd)
	return append(out, opI32Const, 0x7f, opEnd)
}

// partBody is
//
//	if a unit of either has two bytes { return the comparison by the units }
//	for ; length > 0; length-- { if difference of the two bytes is not 0 { return it }; to the next ones }
//	0
func (f *follower) partBody(p probe) []byte {
	const text, other, at, otherAt, length, difference = 0, 1, 2, 3, 4, 5
	out := []byte{1, 1, typeI32, opLocalGet, text, opI32Load, 2, 0, opLocalGet, other, opI32Load, 2, 0, opI32Or}
	out = append(out, opI32Const, 0, opI32LtS, opIf, blockEmpty)
	out = append(appendU32(append(appendGets(out, 0, 1, 2, 3, 4), opCall), f.texter.part), opReturn, opEnd)
	for _, of := range [][2]byte{{text, at}, {other, otherAt}} {
		out = append(appendU32(append(appendGet(out, of[0]), opCall), f.texter.data), opLocalGet, of[1], opI32Add, opLocalSet, of[1])
	}
	out = p.append(append(out, opLoop, blockEmpty))
	out = append(out, opLocalGet, length, opIf, blockEmpty)
	out = append(out, opLocalGet, at, opI32Load8U, 0, 0, opLocalGet, otherAt, opI32Load8U, 0, 0, opI32Sub, opLocalTee, difference)
	out = append(out, opIf, blockEmpty, opLocalGet, difference, opReturn, opEnd)
	for _, local := range []byte{at, otherAt} {
		out = append(out, opLocalGet, local, opI32Const, 1, opI32Add, opLocalSet, local)
	}
	out = append(out, opLocalGet, length, opI32Const, 1, opI32Sub, opLocalSet, length, opBr, 1, opEnd, opEnd)
	return append(out, opI32Const, 0, opEnd)
}
