package fuel

import "bytes"

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
	// taken writes to_object, the braces read; iterated writes for_of_start, for a bracket.
	taken    = []byte{opLocalGet, 9, opI32Load, 2, 0, opI32Const, 112 | 0x80, 0, opCall}
	iterated = []byte{opLocalGet, 4, opI32Const, 126 | 0x80, 0, opCall}
	// placed begins emit_source_loc: the function that is compiled, and line and column of the token.
	placed = []byte{opLocalGet, 0, opI32Const, 96 | 0x80, 0, opI32Add, opI32Load, 2, 0, opLocalGet, 0, opI32Load, 2, 28, opLocalGet, 0, opI32Load, 2, 32, opCall}
)

// isPattern reports whether function i of the module's own can be js_parse_destructuring_element.
func (l layout) isPattern(i int) bool { return l.isOfType(i, patternType) }

// placing returns code that keeps the places of patterns, if it writes each instruction once
// and there is one emit_source_loc.
func (l layout) placing(code []byte) []byte {
	place, err := l.only(placeType, placed, 1)
	if err != nil || bytes.Count(code, taken) != 1 || bytes.Count(code, iterated) != 1 {
		return code
	}
	keep := appendU32([]byte{opLocalGet, 0, opCall}, l.imports.funcs+uint32(place))
	code = bytes.Replace(code, taken, append(bytes.Clone(keep), taken...), 1)
	return bytes.Replace(code, iterated, append(keep, iterated...), 1)
}
