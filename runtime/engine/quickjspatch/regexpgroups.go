package quickjspatch

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/pages-toolchain/pages/runtime/wasmbinary"
	"github.com/pages-toolchain/pages/runtime/wasmbinary/op"
)

// This file lets a regular expression have as many groups as V8's, 32,767, instead of 254. Highlighters and tokenizers join
// hundreds of patterns into one. libregexp keeps the number of a group in one byte. Here it takes two: after save_start,
// save_end, save_reset and the references back, and in the head, where the number of groups now takes the byte of the number
// of registers, and that the upper byte of the length. Code is therefore shorter than 16 MB.

const (
	groupsMost = 32767 + 1 // the whole match is one of them
	groupsOld  = 255
	codeLength = 1<<24 - 1

	headGroups, headRegistersOld, headLength, headRegisters = 2, 3, 4, 7
)

// operationSizes are the bytes that each operation of a regular expression takes (libregexp-opcode.h), from which three are
// widened.
var (
	operationSizes = []byte{
		1, 3, 3, 5, 5, 1, 1, 1, 1, 1, 1, 1, 1, 5, 5, 5, 1, 1, 1, 2, 2, 3, 6, 10, 10, 10, 10, 6, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 5, 5,
		2, 2, 1,
	}
	widenedSizes = slices.Concat(operationSizes[:reSaveStart], []byte{3, 3, 5}, operationSizes[reSaveStart+3:])
)

// widenOperations widens them in a section of data.
func widenOperations(body []byte) []byte {
	return correction{replaced: []replacement{{operationSizes, widenedSizes}}}.apply(body)
}

// edit replaces instructions in a function that has them so many times.
type edit struct {
	from, to []byte
	times    int
}

// groupWidener is the functions of libregexp that know the number of a group, with their edits.
type groupWidener struct {
	edits             map[int][]edit // by function of the module's own
	put, emit         uint32         // dbuf_putc (buffer, byte), re_emit_op_u8 (parser, operation, byte)
	putType, emitType uint32
}

// emitBody is re_emit_op_u8 up to the index of dbuf_putc:
//
//	dbuf_putc(parser, operation); dbuf_putc(parser, byte)
var emitStart = []byte{0, op.LocalGet, 0, op.LocalGet, 1, op.Call}

const emitType = "\x60\x03\x7f\x7f\x7f\x00"

func (l layout) groupWidener(f *patcher) (w groupWidener, err error) {
	for i, code := range l.code {
		if !l.hasType(i, emitType) || !bytes.HasPrefix(code, emitStart) {
			continue
		}
		put := (&wasmbinary.Reader{Bytes: code, At: len(emitStart)}).U32()
		want := append(appendCall(bytes.Clone(emitStart[:len(emitStart)-1]), put), op.LocalGet, 0, op.LocalGet, 2)
		if bytes.Equal(code, append(appendCall(append(want, lowByte...), put), op.End)) {
			w.put, w.emit = put, l.imports.funcs+uint32(i)
		}
	}
	if w.emit == 0 {
		return w, errors.New("the module has no re_emit_op_u8")
	}
	w.putType, w.emitType = l.typeOf(w.put), l.typeOf(w.emit)
	w.edits = map[int][]edit{f.regexps.exec: executorEdits}
	sets := slices.Concat([][]edit{w.compilerEdits(f), w.termEdits(f), w.nameEdits(f), w.countEdits(f), scopeEdits}, readerEdits)
	for n, set := range sets {
		found := -1
		for i, code := range l.code {
			if hasEdits(code, set) {
				found = i
			}
		}
		if found < 0 || w.edits[found] != nil {
			return w, fmt.Errorf("the module does not have the %dth function that knows the groups of an expression", n)
		}
		w.edits[found] = set
	}
	if !hasEdits(l.code[f.regexps.exec], executorEdits) {
		return w, errors.New("lre_exec does not read the numbers of groups as expected")
	}
	return w, nil
}

func hasEdits(code []byte, edits []edit) bool {
	for _, e := range edits {
		if bytes.Count(code, e.from) != e.times {
			return false
		}
	}
	return true
}

func (w groupWidener) widen(i int, code []byte) []byte {
	for _, e := range w.edits[i] {
		code = bytes.ReplaceAll(code, e.from, e.to)
	}
	return code
}

// putBody is, for (buffer, number of a group):
//
//	dbuf_putc(buffer, its lower byte); dbuf_putc(buffer, its upper one)
func (w groupWidener) putBody() []byte {
	out := appendCall(append(appendGets([]byte{0}, 0, 1), lowByte...), w.put)
	out = append(appendGets(out, 0, 1), op.I32Const, 8, op.I32ShrU)
	return append(appendCall(append(out, lowByte...), w.put), op.End)
}

// emitBody is, for (parser, operation, number of a group):
//
//	dbuf_putc(parser, operation); put(parser, number)
func (w groupWidener) emitBody(f *patcher) []byte {
	out := appendCall(appendGets([]byte{0}, 0, 1), w.put)
	return append(appendCall(appendGets(out, 0, 2), f.function(putGroup)), op.End)
}

var lowByte = append(op.AppendS32([]byte{op.I32Const}, 0xff), op.I32And)

func constant(n int32) []byte { return op.AppendS32([]byte{op.I32Const}, n) }

// load8 and load16 are loads with an offset.
func load8(offset byte) []byte  { return []byte{op.I32Load8U, 0, offset} }
func load16(offset byte) []byte { return []byte{op.I32Load16U, 0, offset} }

// around returns an edit of the instructions between before and after.
func around(before, from, to, after []byte) edit {
	return edit{slices.Concat(before, from, after), slices.Concat(before, to, after), 1}
}

// termEdits are those of re_parse_term (parser, whether backward) -> int.
func (w groupWidener) termEdits(f *patcher) []edit {
	const pc, length, last, parser = 17, 3, 2, 0 // locals of the walk over the code of an atom, and of its start
	emit := func(operation, group byte) edit {
		before := appendGets(nil, parser, operation, group)
		return around(before, appendCall(nil, w.emit), appendCall(nil, f.function(emitGroup)), nil)
	}
	atomEnd := []byte{op.LocalGet, last, op.I32Add}
	storeByte, storeTwo := []byte{op.I32Store8, 0}, []byte{op.I32Store16, 0}
	const capture = 48 // of the parser: the number of groups so far
	return []edit{
		around([]byte{op.LocalGet, parser, op.I32Load, 2, capture, op.LocalTee, 7}, constant(groupsOld), constant(groupsMost),
			[]byte{op.I32GeS}),
		emit(21, 7), emit(20, 7),
		// \1
		around(append(appendCall([]byte{op.I32Const, 1}, w.emit), op.LocalGet, parser, op.LocalGet, 3),
			appendCall(bytes.Clone(lowByte), w.put), appendCall(nil, f.function(putGroup)), nil),
		// steps over references back: the number of groups, each of two bytes
		around([]byte{op.LocalGet, pc, op.I32Const, 1, op.I32Add, op.I32Load8U, 0, 0}, nil, []byte{op.I32Const, 1, op.I32Shl},
			[]byte{op.LocalGet, length, op.I32Add, op.LocalSet, length}),
		// inserts save_reset first, last, at two places
		{append(appendGets(nil, parser, last), op.I32Const, 3, op.Call), append(appendGets(nil, parser, last), op.I32Const, 5, op.Call), 2},
		{
			slices.Concat(atomEnd, []byte{op.LocalGet, 7}, storeByte, []byte{1}),
			slices.Concat(atomEnd, []byte{op.LocalGet, 7}, storeTwo, []byte{1}), 2,
		},
		{
			slices.Concat(atomEnd, []byte{op.LocalGet, parser}, load8(capture), []byte{op.I32Const, 1, op.I32Sub}, storeByte, []byte{2}),
			slices.Concat(atomEnd, []byte{op.LocalGet, parser}, load16(capture), []byte{op.I32Const, 1, op.I32Sub}, storeTwo, []byte{3}), 2,
		},
		around([]byte{op.LocalGet, last}, constant(3), constant(5), []byte{op.I32Add, op.LocalSet, last, op.Br, 2}),
	}
}

// nameEdits are those of find_group_name (parser, name, whether to emit) -> int.
func (w groupWidener) nameEdits(f *patcher) []edit {
	return []edit{
		around([]byte{op.LocalGet, 0, op.LocalGet, 4}, appendCall(bytes.Clone(lowByte), w.put), appendCall(nil, f.function(putGroup)),
			[]byte{op.End, op.LocalGet, 6}),
	}
}

// countEdits are those of re_parse_captures (parser, result, name, whether to emit) -> int.
func (w groupWidener) countEdits(f *patcher) []edit {
	return []edit{
		around([]byte{op.LocalGet, 0, op.LocalGet, 7}, appendCall(bytes.Clone(lowByte), w.put), appendCall(nil, f.function(putGroup)),
			[]byte{op.End, op.LocalGet, 9}),
		{
			slices.Concat([]byte{op.LocalGet, 7}, constant(groupsOld-2), []byte{op.I32GtS}),
			slices.Concat([]byte{op.LocalGet, 7}, constant(groupsMost-2), []byte{op.I32GtS}), 2,
		},
	}
}

// compilerEdits are the edits of lre_compile, which is part of the function that implements new RegExp (context, pattern, flags) -> value.
// The code is in a buffer at offset 88 of local 3, the number of groups at 136, and that of registers in local 9.
func (w groupWidener) compilerEdits(f *patcher) []edit {
	const stack, registers, size, walked, length = 3, 9, 11, 5, 6
	buffer := []byte{op.LocalGet, stack, op.I32Load, 2, 88}
	groups := []byte{op.LocalGet, stack, op.I32Load, 2, 0x88, 1}
	codeSize := []byte{op.LocalGet, stack, op.I32Load, 2, 92, op.I32Const, regexpLoop, op.I32Sub}
	emit := func(operation byte) edit {
		before := []byte{op.I32Const, operation, op.I32Const, 0}
		return around(before, appendCall(nil, w.emit), appendCall(nil, f.function(emitGroup)), nil)
	}
	storeLength := []byte{op.I32Store, 0, headLength}
	return []edit{
		emit(reSaveStart), emit(reSaveStart + 1),
		around([]byte{op.LocalGet, walked, op.I32Const, 1, op.I32Add, op.I32Load8U, 0, 0}, nil, []byte{op.I32Const, 1, op.I32Shl},
			[]byte{op.LocalGet, length, op.I32Add, op.LocalSet, length}),
		// fails as it does for too many registers when the code is too long
		around([]byte{op.LocalGet, registers, op.I32Const, 0, op.I32GeS}, nil,
			append(append([]byte{op.LocalGet, size}, constant(codeLength)...), op.I32LeS, op.I32And), []byte{op.BrIf, 1}),
		around(nil,
			slices.Concat(buffer, groups, []byte{op.I32Store8, 0, headGroups}, buffer,
				[]byte{op.LocalGet, registers, op.I32Store8, 0, headRegistersOld}, buffer, codeSize, storeLength),
			slices.Concat(buffer, groups, []byte{op.I32Store16, 0, headGroups}, buffer, codeSize,
				[]byte{op.LocalGet, registers, op.I32Const, 24, op.I32Shl, op.I32Or}, storeLength), nil),
	}
}

// executorEdits are the edits of lre_exec: local 3 has the place in the code, local 8 the state.
var executorEdits = []edit{
	around([]byte{op.LocalGet, 1}, load8(headGroups), load16(headGroups), []byte{op.LocalTee, 6, op.I32Store, 2, 24}),
	// save_start, save_end
	around([]byte{op.LocalGet, 3}, load8(1), load16(1), []byte{op.LocalTee, 4, op.LocalGet, 8, op.I32Load, 2, 24, op.I32GeU}),
	around([]byte{op.LocalGet, 3}, constant(2), constant(3),
		[]byte{op.I32Add, op.LocalSet, 3, op.LocalGet, 2, op.LocalGet, 12, op.LocalGet, 4}),
	// save_reset
	around([]byte{op.LocalGet, 3}, load8(2), load16(3), []byte{op.LocalTee, 4, op.LocalGet, 8, op.I32Load, 2, 24, op.I32GeU}),
	around([]byte{op.LocalGet, 4, op.LocalGet, 3}, load8(1), load16(1), []byte{op.LocalTee, 7, op.I32Sub}),
	around([]byte{op.LocalGet, 3}, constant(3), constant(5), []byte{op.I32Add, op.LocalSet, 3, op.LocalGet, 7, op.I32Const, 1, op.I32Shl}),
	// references back
	around([]byte{op.LocalGet, 3, op.I32Load8U, 0, 1, op.LocalTee, 6}, nil, []byte{op.I32Const, 1, op.I32Shl},
		[]byte{op.I32Add, op.LocalSet, 3, op.LocalGet, 8, op.I32Load, 2, 24, op.LocalSet, 10}),
	around([]byte{op.LocalGet, 10, op.LocalGet, 1}, load8(0), load16(0), []byte{op.LocalTee, 4, op.I32LeU}),
	around([]byte{op.LocalGet, 1}, constant(1), constant(2),
		[]byte{op.I32Add, op.LocalSet, 1, op.LocalGet, 0, op.LocalGet, 4, op.I32Const, 3}),
}

// scopeEdits are the edits of re_parse_disjunction (parser, whether backward) -> int. It counts alternatives in a byte, which shows whether
// a name is taken, and fails beyond 255 if there are names. The byte is made to start over: a name may then be refused as taken by one that
// is 256 alternatives away.
var scopeEdits = []edit{
	around([]byte{op.I32Load8U, 0, 45, op.LocalTee, 6}, constant(255), constant(256), []byte{op.I32Ne, op.I32Or, op.I32Eqz, op.If}),
}

// readerEdits are the edits of functions that read the head of the code: js_regexp_exec, the fast path of its callers, and the reader of
// bytecode.
var readerEdits = [][]edit{
	{
		around([]byte{op.LocalGet, 2}, constant(headRegistersOld), constant(headRegisters), []byte{op.I32Add, op.I32Load8U, 0, 0}),
		around([]byte{op.LocalGet, 2, op.I32Const, headGroups, op.I32Add}, load8(0), load16(0), []byte{op.LocalTee, 13}),
		around([]byte{op.LocalGet, 2, op.I32Load, 0, headLength}, nil, append(constant(codeLength), op.I32And), []byte{op.LocalSet, 4}),
	},
	{
		around([]byte{op.LocalGet, 8}, constant(headRegistersOld), constant(headRegisters), []byte{op.I32Add, op.I32Load8U, 0, 0}),
		around([]byte{op.LocalGet, 8, op.I32Const, headGroups, op.I32Add}, load8(0), load16(0), []byte{op.I32Const, 1, op.I32Shl}),
	},
	{
		around([]byte{op.I32Load, 0, headLength}, nil, append(constant(codeLength), op.I32And),
			[]byte{op.LocalGet, 5, op.I32Const, regexpLoop, op.I32Sub, op.I32LeU}),
	},
}
