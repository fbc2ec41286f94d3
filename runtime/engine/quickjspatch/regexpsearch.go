package quickjspatch

import (
	"bytes"
	"errors"

	"github.com/pages-toolchain/pages/runtime/wasmbinary"
	"github.com/pages-toolchain/pages/runtime/wasmbinary/op"
)

// This file makes searches for regular expressions fast. Their code begins with a loop that tries them at one position after
// the other, a step of the interpreter at a time; routers and tokenizers try hundreds at a path or a document, of which few
// match. Two new functions look at the code after the loop:
//
//   - If ^ comes first, without the flag m, a match can be at the start of the text alone. It is tried once and not in the
//     loop (startBody), and if plain characters follow that the text has not, not at all (searchBody).
//   - If a character or a class comes first, a match begins with one of a few characters. The search skips to the next of
//     them (searchBody).
//
// lre_exec (captures, code, text, index, length, type, opaque) -> int calls both. It is not exported: it is the one function
// of its type that has codeStart.

// Offsets in the code of a regular expression: after its head comes the loop, unless the flag y is set, then save_start 0,
// then the expression.
const (
	regexpFlags = 0 // 16 bits
	regexpLoop  = 8
	regexpBody  = regexpLoop + 11
	regexpFirst = regexpBody + 3 // save_start has the number of its group in two bytes: regexpgroups.go
	// unicodeFlags are those of u and v: two surrogates are one character then.
	unicodeFlags = 272

	reChar           = 1
	reLineStart      = 9
	reSplitGotoFirst = 14
	reSaveStart      = 19
	reRange          = 36
	// searchedRanges is the maximum number of ranges of a class that is searched for: they are compared one after the other.
	searchedRanges = 8
)

const (
	execType   = "\x60\x07\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x01\x7f"
	searchType = "\x60\x05\x7f\x7f\x7f\x7f\x7f\x01\x7f"
	startType  = "\x60\x01\x7f\x01\x7f"
)

// codeStart steps over the head in lre_exec: local 3 = code + 8.
var codeStart = []byte{op.LocalGet, 1, op.I32Const, regexpLoop, op.I32Add, op.LocalSet, 3}

// regexpSearcher is the functions of this file.
type regexpSearcher struct {
	exec                  int // of the module's own functions
	searchType, startType uint32
}

func (l layout) regexpSearcher() (s regexpSearcher, err error) {
	search, start := l.typeIndex(searchType), l.typeIndex(startType)
	if search < 0 || start < 0 {
		return s, errors.New("the module has no functions of the types that look for regular expressions")
	}
	s.exec, err = l.uniqueFunction(execType, codeStart, 1)
	s.searchType, s.startType = uint32(search), uint32(start)
	return s, err
}

// insertSearch returns the code of lre_exec with the two calls in it:
//
//	index = search(code, text, index, length, type)
//	…
//	local 3 = start(code)
func (f *patcher) insertSearch(code []byte) []byte {
	r := &wasmbinary.Reader{Bytes: code}
	skipLocals(r)
	out := appendGets(bytes.Clone(code[:r.At]), 1, 2, 3, 4, 5)
	out = append(appendCall(out, f.function(regexpSearch)), op.LocalSet, 3)
	start := op.AppendU32([]byte{op.LocalGet, 1, op.Call}, f.function(regexpStart))
	return append(out, bytes.Replace(code[r.At:], codeStart, append(start, op.LocalSet, 3), 1)...)
}

// appendUnless leaves the block at depth unless a byte of the code, in local 0, is want.
func appendUnless(out []byte, at byte, want int32, depth byte) []byte {
	out = append(appendGet(out, 0), op.I32Load8U, 0, at)
	return append(op.AppendS32(append(out, op.I32Const), want), op.I32Ne, op.BrIf, depth)
}

// startBody is
//
//	if code is a loop, save_start and line_start { return code + regexpBody }
//	code + regexpLoop
func startBody() []byte {
	out := []byte{0, op.Block, op.BlockEmpty}
	out = appendUnless(out, regexpFirst, reLineStart, 0)
	out = appendUnless(out, regexpLoop, reSplitGotoFirst, 0)
	out = appendUnless(out, regexpBody, reSaveStart, 0)
	out = append(appendGet(out, 0), op.I32Const, regexpBody, op.I32Add, op.Return, op.End)
	return append(appendGet(out, 0), op.I32Const, regexpLoop, op.I32Add, op.End)
}

// searchBody is
//
//	if code is a loop and save_start, and not (type and unicode) {
//		if line_start {
//			for at = after it; at is char; at++ {
//				if index == length or text[index] is another { return length } // nothing is there, as ^ is not
//				index++
//			}
//			return the index that was given
//		}
//		if char or range {
//			ranges, high = the operand; end = after it // 16 bits each; high: from a range's lower end to its upper one
//			for index < length {
//				unit = text[index]
//				for range in ranges { if range.low <= unit <= range.high { return index } }
//				index++
//			}
//		}
//	}
//	index
func (p probe) searchBody() []byte {
	const code, index, length, wide = 0, 2, 3, 4
	const ranges, high, end, unit, at, low = 5, 6, 7, 8, 9, 10
	out := []byte{1, 6, typeI32, op.Block, op.BlockEmpty}
	out = appendUnless(out, regexpLoop, reSplitGotoFirst, 0)
	out = appendUnless(out, regexpBody, reSaveStart, 0)
	out = append(appendGet(out, wide), op.If, op.BlockEmpty)
	out = append(appendGet(out, code), op.I32Load16U, 0, regexpFlags)
	out = append(op.AppendS32(append(out, op.I32Const), unicodeFlags), op.I32And, op.BrIf, 1, op.End)

	out = append(out, op.Block, op.BlockEmpty)
	out = appendUnless(out, regexpFirst, reLineStart, 0)
	out = append(appendGet(out, code), op.I32Const, regexpFirst+1, op.I32Add, op.LocalSet, at)
	out = append(appendGet(out, index), op.LocalSet, end)
	out = append(
		appendGet(p.appendProbe(append(out, op.Loop, op.BlockEmpty)), at), op.I32Load8U, 0, 0, op.I32Const, reChar,
		op.I32Ne, op.BrIf, 2,
	)
	out = append(appendGets(out, end, length), op.I32LtS, op.If, op.BlockEmpty)
	out = append(appendGet(appendUnit(out, end), at), op.I32Load16U, 0, 1, op.I32Eq, op.If, op.BlockEmpty)
	out = append(appendGet(out, end), op.I32Const, 1, op.I32Add, op.LocalSet, end)
	out = append(appendGet(out, at), op.I32Const, 3, op.I32Add, op.LocalSet, at, op.Br, 2, op.End, op.End, op.End)
	out = append(appendGet(out, length), op.Return, op.End)

	// char c is the one range from c to c, range the number of its ranges and those.
	out = append(appendGet(out, code), op.I32Load8U, 0, regexpFirst, op.I32Const, reChar, op.I32Eq, op.If, op.BlockEmpty)
	out = append(appendGet(out, code), op.I32Const, regexpFirst+1, op.I32Add, op.LocalTee, ranges)
	out = append(out, op.I32Const, 4, op.I32Add, op.LocalSet, end, op.Else)
	out = appendUnless(out, regexpFirst, reRange, 1)
	out = append(appendGet(out, code), op.I32Load16U, 0, regexpFirst+1, op.LocalTee, at)
	out = append(out, op.I32Const, 1, op.I32Sub, op.I32Const, searchedRanges, op.I32GeU, op.BrIf, 1) // not none either
	out = append(appendGet(out, code), op.I32Const, regexpFirst+3, op.I32Add, op.LocalTee, ranges)
	out = append(appendGet(out, at), op.I32Const, 2, op.I32Shl, op.I32Add, op.LocalSet, end)
	out = append(out, op.I32Const, 2, op.LocalSet, high, op.End)

	out = append(appendGets(p.appendProbe(append(out, op.Loop, op.BlockEmpty)), index, length), op.I32GeS, op.BrIf, 1)
	out = append(appendUnit(out, index), op.LocalSet, unit)
	out = append(appendGet(out, ranges), op.LocalSet, at, op.Loop, op.BlockEmpty)
	out = append(appendGets(out, unit, at), op.I32Load16U, 0, 0, op.LocalTee, low, op.I32Sub)
	out = append(appendGets(out, at, high), op.I32Add, op.I32Load16U, 0, 0)
	out = append(appendGet(out, low), op.I32Sub, op.I32LeU, op.BrIf, 2)
	out = append(appendGet(out, at), op.I32Const, 4, op.I32Add, op.LocalTee, at)
	out = append(appendGet(out, end), op.I32LtU, op.BrIf, 0, op.End)
	out = append(appendGet(out, index), op.I32Const, 1, op.I32Add, op.LocalSet, index, op.Br, 0, op.End, op.End)
	return append(appendGet(out, index), op.End)
}

// appendUnit appends text[index] of searchBody, of 8 bits or, when wide, of 16.
func appendUnit(out []byte, index byte) []byte {
	const text, wide = 1, 4
	out = append(appendGet(out, wide), op.If, typeI32)
	out = append(appendGets(out, text, index), op.I32Const, 1, op.I32Shl, op.I32Add, op.I32Load16U, 1, 0, op.Else)
	return append(appendGets(out, text, index), op.I32Add, op.I32Load8U, 0, 0, op.End)
}
