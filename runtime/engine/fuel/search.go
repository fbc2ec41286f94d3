package fuel

import (
	"bytes"
	"errors"
)

// This file makes regular expressions fast that are looked for in a text. Their
// code begins with a loop that tries them at one position after the other, a step
// of the interpreter at a time; routers and tokenizers try hundreds at a path or a
// document of which few match. Two new functions look at what comes after the loop:
//
//   - A match can be at the start of the text alone when ^ comes first, without the
//     flag m. It is tried once and not in the loop (startBody), and where plain
//     characters follow that are not there, not at all (searchBody).
//   - A match begins with one of a few characters when a character or a class
//     comes first. What lies before the next of them is stepped over (searchBody).
//
// lre_exec (captures, code, text, index, length, type, opaque) -> int asks both.
// It is not exported: it is the one function of its type that has codeStart.

// Where things lie in the code of a regular expression: after its head comes
// the loop, unless the flag y is set, then save_start 0, then what is looked for.
const (
	regexpFlags = 0 // 16 bits
	regexpLoop  = 8
	regexpBody  = regexpLoop + 11
	regexpFirst = regexpBody + 2
	// unicodeFlags are those of u and v: two surrogates are one character then.
	unicodeFlags = 272

	reChar           = 1
	reLineStart      = 9
	reSplitGotoFirst = 14
	reSaveStart      = 19
	reRange          = 36
	// searchedRanges is how many ranges a class may have to be looked for: they are
	// asked one after the other.
	searchedRanges = 8
)

const (
	execType   = "\x60\x07\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x01\x7f"
	searchType = "\x60\x05\x7f\x7f\x7f\x7f\x7f\x01\x7f"
	startType  = "\x60\x01\x7f\x01\x7f"

	opI32Load8U = 0x2d
	opI32GeS    = 0x4e
	opI32GeU    = 0x4f
)

// codeStart is where lre_exec steps over the head: local 3 = code + 8.
var codeStart = []byte{opLocalGet, 1, opI32Const, regexpLoop, opI32Add, opLocalSet, 3}

// searcher is where the calls of this file go.
type searcher struct {
	exec                  int // of the module's own functions
	searchType, startType uint32
}

func (l layout) searcher() (s searcher, err error) {
	search, start := l.typeIndex(searchType), l.typeIndex(startType)
	if search < 0 || start < 0 {
		return s, errors.New("the module has no functions of the types that look for regular expressions")
	}
	s.exec, err = l.only(execType, codeStart, 1)
	s.searchType, s.startType = uint32(search), uint32(start)
	return s, err
}

// The functions of this file come after those of owner.go.
func (f *follower) searchFunction() uint32 { return f.first + 6 }
func (f *follower) startFunction() uint32  { return f.first + 7 }

// searching returns the code of lre_exec with the two calls in it:
//
//	index = search(code, text, index, length, type)
//	…
//	local 3 = start(code)
func (f *follower) searching(code []byte) []byte {
	r := &reader{b: code}
	r.locals()
	out := appendGets(bytes.Clone(code[:r.at]), 1, 2, 3, 4, 5)
	out = append(appendU32(append(out, opCall), f.searchFunction()), opLocalSet, 3)
	start := appendU32([]byte{opLocalGet, 1, opCall}, f.startFunction())
	return append(out, bytes.Replace(code[r.at:], codeStart, append(start, opLocalSet, 3), 1)...)
}

// appendUnless leaves the block at depth unless a byte of the code, in local 0, is want.
func appendUnless(out []byte, at byte, want int32, depth byte) []byte {
	out = append(appendGet(out, 0), opI32Load8U, 0, at)
	return append(appendS32(append(out, opI32Const), want), opI32Ne, opBrIf, depth)
}

// startBody is
//
//	if code is a loop, save_start and line_start { return code + regexpBody }
//	code + regexpLoop
func startBody() []byte {
	out := []byte{0, opBlock, blockEmpty}
	out = appendUnless(out, regexpFirst, reLineStart, 0)
	out = appendUnless(out, regexpLoop, reSplitGotoFirst, 0)
	out = appendUnless(out, regexpBody, reSaveStart, 0)
	out = append(appendGet(out, 0), opI32Const, regexpBody, opI32Add, opReturn, opEnd)
	return append(appendGet(out, 0), opI32Const, regexpLoop, opI32Add, opEnd)
}

// searchBody is
//
//	if code is a loop and save_start, and not (type and unicode) {
//		if line_start {
//			for at = behind it; at is char; at++ {
//				if index == length or text[index] is another { return length } // nothing is there, as ^ is not
//				index++
//			}
//			return the index that was given
//		}
//		if char or range {
//			ranges, high = the operand; end = behind it // 16 bits each; high: from a range's lower end to its upper one
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
	out := []byte{1, 6, typeI32, opBlock, blockEmpty}
	out = appendUnless(out, regexpLoop, reSplitGotoFirst, 0)
	out = appendUnless(out, regexpBody, reSaveStart, 0)
	out = append(appendGet(out, wide), opIf, blockEmpty)
	out = append(appendGet(out, code), opI32Load16U, 0, regexpFlags)
	out = append(appendS32(append(out, opI32Const), unicodeFlags), opI32And, opBrIf, 1, opEnd)

	out = append(out, opBlock, blockEmpty)
	out = appendUnless(out, regexpFirst, reLineStart, 0)
	out = append(appendGet(out, code), opI32Const, regexpFirst+1, opI32Add, opLocalSet, at)
	out = append(appendGet(out, index), opLocalSet, end)
	out = append(appendGet(p.append(append(out, opLoop, blockEmpty)), at), opI32Load8U, 0, 0, opI32Const, reChar, opI32Ne, opBrIf, 2)
	out = append(appendGets(out, end, length), opI32LtS, opIf, blockEmpty)
	out = append(appendGet(appendUnit(out, end), at), opI32Load16U, 0, 1, opI32Eq, opIf, blockEmpty)
	out = append(appendGet(out, end), opI32Const, 1, opI32Add, opLocalSet, end)
	out = append(appendGet(out, at), opI32Const, 3, opI32Add, opLocalSet, at, opBr, 2, opEnd, opEnd, opEnd)
	out = append(appendGet(out, length), opReturn, opEnd)

	// char c is the one range from c to c, range the number of its ranges and those.
	out = append(appendGet(out, code), opI32Load8U, 0, regexpFirst, opI32Const, reChar, opI32Eq, opIf, blockEmpty)
	out = append(appendGet(out, code), opI32Const, regexpFirst+1, opI32Add, opLocalTee, ranges)
	out = append(out, opI32Const, 4, opI32Add, opLocalSet, end, opElse)
	out = appendUnless(out, regexpFirst, reRange, 1)
	out = append(appendGet(out, code), opI32Load16U, 0, regexpFirst+1, opLocalTee, at)
	out = append(out, opI32Const, 1, opI32Sub, opI32Const, searchedRanges, opI32GeU, opBrIf, 1) // not none either
	out = append(appendGet(out, code), opI32Const, regexpFirst+3, opI32Add, opLocalTee, ranges)
	out = append(appendGet(out, at), opI32Const, 2, opI32Shl, opI32Add, opLocalSet, end)
	out = append(out, opI32Const, 2, opLocalSet, high, opEnd)

	out = append(appendGets(p.append(append(out, opLoop, blockEmpty)), index, length), opI32GeS, opBrIf, 1)
	out = append(appendUnit(out, index), opLocalSet, unit)
	out = append(appendGet(out, ranges), opLocalSet, at, opLoop, blockEmpty)
	out = append(appendGets(out, unit, at), opI32Load16U, 0, 0, opLocalTee, low, opI32Sub)
	out = append(appendGets(out, at, high), opI32Add, opI32Load16U, 0, 0)
	out = append(appendGet(out, low), opI32Sub, opI32LeU, opBrIf, 2)
	out = append(appendGet(out, at), opI32Const, 4, opI32Add, opLocalTee, at)
	out = append(appendGet(out, end), opI32LtU, opBrIf, 0, opEnd)
	out = append(appendGet(out, index), opI32Const, 1, opI32Add, opLocalSet, index, opBr, 0, opEnd, opEnd)
	return append(appendGet(out, index), opEnd)
}

// appendUnit appends text[index] of searchBody, of 8 bits or, when wide, of 16.
func appendUnit(out []byte, index byte) []byte {
	const text, wide = 1, 4
	out = append(appendGet(out, wide), opIf, typeI32)
	out = append(appendGets(out, text, index), opI32Const, 1, opI32Shl, opI32Add, opI32Load16U, 1, 0, opElse)
	return append(appendGets(out, text, index), opI32Add, opI32Load8U, 0, 0, opEnd)
}
