package quickjspatch

import (
	"bytes"
	"errors"

	"github.com/pages-toolchain/pages/runtime/wasmbinary"
	"github.com/pages-toolchain/pages/runtime/wasmbinary/op"
)

// This file makes searches in strings fast. QuickJS compares at one position after the other, and looks the address of the
// text up for each character. There are three new functions:
//
//   - String.prototype.indexOf and includes skip to the next position with the first character (skipBody).
//   - string_indexof_char (text, unit, from) -> index or -1, which replaceAll and split use as well, compares eight bytes at
//     once (unitBody).
//   - The comparison of two parts (text, other, from, other's from, length) -> difference reads texts of one byte a unit in
//     place (partBody).
//
// None of these is exported. The first two are the functions of their type with the loops below; the others are called by
// those, or have their instructions.

const (
	methodType = "\x60\x05\x7f\x7e\x7f\x7f\x7f\x01\x7e" // of the methods that a program calls
	partType   = "\x60\x05\x7f\x7f\x7f\x7f\x7f\x01\x7f"
	unitType   = "\x60\x03\x7f\x7f\x7f\x01\x7f"
	skipType   = "\x60\x04\x7f\x7f\x7f\x7f\x01\x7f"

	// textLength masks the length in the first word of a text; the sign bit marks units of two bytes.
	textLength = 1<<31 - 1
	// lanes is the number of bytes compared at once.
	lanes = 8
)

var (
	// indexOfLoop is: loop, block, compare(text 10, other 9, from 3, 0, length 6).
	indexOfLoop = []byte{
		op.Loop, op.BlockEmpty, op.Block, op.BlockEmpty, op.LocalGet, 10, op.LocalGet, 9, op.LocalGet, 3, op.I32Const,
		0, op.LocalGet, 6, op.Call,
	}
	// includesLoop is: loop, compare(text 8, other 9, from 5, 0, length 3).
	includesLoop = []byte{op.Loop, op.BlockEmpty, op.LocalGet, 8, op.LocalGet, 9, op.LocalGet, 5, op.I32Const, 0, op.LocalGet, 3, op.Call}
)

// stringSearcher is the functions of this file. indexOf and includes are of the module's own.
type stringSearcher struct {
	indexOf, includes            int
	part, unit, get, data        uint32 // get (text, index) -> unit; data (text) -> address
	partType, unitType, skipType uint32
}

func (l layout) stringSearcher() (x stringSearcher, err error) {
	part, unit, skip := l.typeIndex(partType), l.typeIndex(unitType), l.typeIndex(skipType)
	if part < 0 || unit < 0 || skip < 0 {
		return x, errors.New("the module has no functions of the types that look for a text")
	}
	x.partType, x.unitType, x.skipType = uint32(part), uint32(unit), uint32(skip)
	if x.indexOf, err = l.uniqueFunction(methodType, indexOfLoop, 1); err != nil {
		return x, err
	}
	if x.includes, err = l.uniqueFunction(methodType, includesLoop, 1); err != nil {
		return x, err
	}
	code := l.code[x.indexOf]
	r := &wasmbinary.Reader{Bytes: code, At: bytes.Index(code, indexOfLoop) + len(indexOfLoop)}
	x.part = r.U32()
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
	equal := op.AppendU32([]byte{op.LocalGet, 1, op.LocalGet, 0, op.Call}, x.data)
	n, err := l.uniqueFunction(unitType, append(equal, op.LocalGet, 3, op.I32Add, op.I32Load16U, 1, 0, op.I32Eq), 1)
	x.unit = l.imports.funcs + uint32(n)
	return x, err
}

// insertSkip returns the code of indexOf or includes with, in its loop, forwards only:
//
//	from = skip(text, other, from, the last position)
func (f *patcher) insertSkip(code []byte, includes bool) []byte {
	loop, at, out := indexOfLoop, 2, []byte{op.LocalGet, 8, op.I32Const, 1, op.I32Eq, op.If, op.BlockEmpty} // 8 is the step
	skip := append(appendCall(appendGets(nil, 10, 9, 3, 4), f.function(stringSkip)), op.LocalSet, 3, op.End)
	if includes {
		loop, out = includesLoop, nil
		skip = append(appendGets(nil, 8, 9, 5, 2), op.I32Const, 1, op.I32Sub, op.Call) // 2 is after the last position
		skip = append(op.AppendU32(skip, f.function(stringSkip)), op.LocalSet, 5)
	}
	out = append(append(bytes.Clone(loop[:at]), out...), skip...)
	return bytes.Replace(code, loop, append(out, loop[at:]...), 1)
}

// skipBody is
//
//	if from >= last or other is empty { return from }
//	at = unit(text, other[0], from) // -1 is the greatest
//	at > last ? last : at
func (f *patcher) skipBody() []byte {
	const text, other, from, last, at = 0, 1, 2, 3, 4
	out := append(appendGets([]byte{1, 1, typeI32}, from, last), op.I32GeS)
	out = op.AppendS32(append(appendGet(out, other), op.I32Load, 2, 0, op.I32Const), textLength)
	out = append(append(out, op.I32And, op.I32Eqz, op.I32Or, op.If, op.BlockEmpty), op.LocalGet, from, op.Return, op.End)
	out = append(appendGets(out, last, text, other), op.I32Const, 0, op.Call)
	out = append(appendGet(op.AppendU32(out, f.strings.get), from), op.Call)
	out = append(op.AppendU32(out, f.function(stringUnit)), op.LocalTee, at)
	return append(appendGets(out, at, last), op.I32GtU, op.Select, op.End)
}

// unitBody is, with the bytes and the lanes of one unit,
//
//	if unit does not fit into the bytes { return -1 }
//	ones = 1 in each of the lanes; all = unit*ones
//	for at = data+from*bytes; at+8 <= end; at += 8 {
//		word = eight bytes xor all
//		if mask = (word-ones) &^ word & ones<<(bits-1); mask != 0 { return index of its first }
//	}
//	for ; at < end; at += bytes { if text[at] == unit { return its index } }
//	-1
func (f *patcher) unitBody(p probe) []byte {
	const text, unit, from, data, at, end, all, word, mask = 0, 1, 2, 3, 4, 5, 6, 7, 8
	out := []byte{2, 3, typeI32, 3, typeI64}
	out = append(appendCall(append(out, op.LocalGet, text), f.strings.data), op.LocalSet, data)
	each := func(shift, load byte) []byte {
		out := append(op.AppendS32([]byte{op.LocalGet, unit, op.I32Const}, 1<<(8<<shift)-1), op.I32GtU, op.BrIf, 1)
		scaled := func(out []byte) []byte {
			return append(out, op.I32Const, shift, op.I32Shl, op.LocalGet, data, op.I32Add)
		}
		found := func(out []byte) []byte {
			return append(out, op.LocalGet, data, op.I32Sub, op.I32Const, shift, op.I32ShrU, op.Return)
		}
		out = append(scaled(append(out, op.LocalGet, from)), op.LocalSet, at)
		out = append(op.AppendS32(append(out, op.LocalGet, text, op.I32Load, 2, 0, op.I32Const), textLength), op.I32And)
		out = append(scaled(out), op.LocalSet, end)
		bits := 8 << shift
		ones := ^uint64(0) / (1<<bits - 1)
		constant := func(out []byte, n uint64) []byte { return op.AppendS64(append(out, op.I64Const), int64(n)) }
		out = append(constant(append(out, op.LocalGet, unit, op.I64ExtendU), ones), op.I64Mul, op.LocalSet, all)
		out = p.appendProbe(append(out, op.Block, op.BlockEmpty, op.Loop, op.BlockEmpty))
		out = append(out, op.LocalGet, at, op.I32Const, lanes, op.I32Add, op.LocalGet, end, op.I32GtU, op.BrIf, 1)
		out = append(out, op.LocalGet, at, op.I64Load, 0, 0, op.LocalGet, all, op.I64Xor, op.LocalTee, word)
		out = append(constant(out, ones), op.I64Sub, op.LocalGet, word)
		out = append(constant(out, ^uint64(0)), op.I64Xor, op.I64And)
		out = append(constant(out, ones<<(bits-1)), op.I64And, op.LocalTee, mask)
		out = append(constant(out, 0), op.I64Ne, op.If, op.BlockEmpty, op.LocalGet, at, op.LocalGet, mask)
		out = append(out, op.I64Ctz, op.I32WrapI64, op.I32Const, 3, op.I32ShrU, op.I32Add)
		out = append(found(out), op.End, op.LocalGet, at, op.I32Const, lanes, op.I32Add, op.LocalSet, at, op.Br, 0, op.End, op.End)
		out = append(out, op.Loop, op.BlockEmpty, op.LocalGet, at, op.LocalGet, end, op.I32GeU, op.BrIf, 2)
		out = append(out, op.LocalGet, at, load, shift, 0, op.LocalGet, unit, op.I32Eq, op.If, op.BlockEmpty, op.LocalGet, at)
		out = append(found(out), op.End, op.LocalGet, at, op.I32Const, 1<<shift, op.I32Add, op.LocalSet, at, op.Br, 0, op.End)
		return out
	}
	out = append(out, op.Block, op.BlockEmpty, op.LocalGet, text, op.I32Load, 2, 0, op.I32Const, 0, op.I32LtS, op.If, op.BlockEmpty)
	out = append(append(out, each(1, op.I32Load16U)...), op.Else)
	out = append(append(out, each(0, op.I32Load8U)...), op.End, op.End)
	return append(out, op.I32Const, 0x7f, op.End)
}

// partBody is
//
//	if a unit of either has two bytes { return the comparison by the units }
//	for ; length > 0; length-- { if difference of the two bytes is not 0 { return it }; to the next ones }
//	0
func (f *patcher) partBody(p probe) []byte {
	const text, other, at, otherAt, length, difference = 0, 1, 2, 3, 4, 5
	out := []byte{1, 1, typeI32, op.LocalGet, text, op.I32Load, 2, 0, op.LocalGet, other, op.I32Load, 2, 0, op.I32Or}
	out = append(out, op.I32Const, 0, op.I32LtS, op.If, op.BlockEmpty)
	out = append(appendCall(appendGets(out, 0, 1, 2, 3, 4), f.strings.part), op.Return, op.End)
	for _, of := range [][2]byte{{text, at}, {other, otherAt}} {
		out = append(appendCall(appendGet(out, of[0]), f.strings.data), op.LocalGet, of[1], op.I32Add, op.LocalSet, of[1])
	}
	out = p.appendProbe(append(out, op.Loop, op.BlockEmpty))
	out = append(out, op.LocalGet, length, op.If, op.BlockEmpty)
	out = append(out, op.LocalGet, at, op.I32Load8U, 0, 0, op.LocalGet, otherAt, op.I32Load8U, 0, 0, op.I32Sub, op.LocalTee, difference)
	out = append(out, op.If, op.BlockEmpty, op.LocalGet, difference, op.Return, op.End)
	for _, local := range []byte{at, otherAt} {
		out = append(out, op.LocalGet, local, op.I32Const, 1, op.I32Add, op.LocalSet, local)
	}
	out = append(out, op.LocalGet, length, op.I32Const, 1, op.I32Sub, op.LocalSet, length, op.Br, 1, op.End, op.End)
	return append(out, op.I32Const, 0, op.End)
}
