package quickjspatch

import (
	"bytes"

	"github.com/pages-toolchain/pages/runtime/wasmbinary/op"
)

// This file has patterns that take a value apart know where they are. For each call and
// each member that is read QuickJS keeps a place in the code, by emit_source_loc (parser);
// for const { a } = x, in whose place a value may be that has no members, and for [a] = x
// it keeps none, so that the error named the line of whatever was compiled before, often
// that of the function. js_parse_destructuring_element (parser, and six that do not matter
// here) -> int is made to keep one, that of the first token in the brackets, before it
// writes either instruction.

const (
	// patternType is the type of js_parse_destructuring_element, placeType that of emit_source_loc.
	patternType = "\x60\x07\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x01\x7f"
	placeType   = "\x60\x01\x7f\x00"
)

var (
	// toObjectCall writes to_object, the braces read; iterated writes for_of_start, for a bracket.
	toObjectCall   = []byte{op.LocalGet, 9, op.I32Load, 2, 0, op.I32Const, 112 | 0x80, 0, op.Call}
	forOfStartCall = []byte{op.LocalGet, 4, op.I32Const, 126 | 0x80, 0, op.Call}
	// sourceLocHead begins emit_source_loc: the function that is compiled, and line and column of the token.
	sourceLocHead = []byte{
		op.LocalGet, 0, op.I32Const, 96 | 0x80, 0, op.I32Add, op.I32Load, 2, 0, op.LocalGet, 0, op.I32Load, 2, 28,
		op.LocalGet, 0, op.I32Load, 2, 32, op.Call,
	}
)

// isPattern reports whether function i of the module's own can be js_parse_destructuring_element.
func (l layout) isPattern(i int) bool { return l.hasType(i, patternType) }

// markPatternPositions returns code that keeps the places of patterns, if it writes each instruction once
// and there is one emit_source_loc.
func (l layout) markPatternPositions(code []byte) []byte {
	place, err := l.uniqueFunction(placeType, sourceLocHead, 1)
	if err != nil || bytes.Count(code, toObjectCall) != 1 || bytes.Count(code, forOfStartCall) != 1 {
		return code
	}
	keep := op.AppendU32([]byte{op.LocalGet, 0, op.Call}, l.imports.funcs+uint32(place))
	code = bytes.Replace(code, toObjectCall, append(bytes.Clone(keep), toObjectCall...), 1)
	return bytes.Replace(code, forOfStartCall, append(keep, forOfStartCall...), 1)
}
