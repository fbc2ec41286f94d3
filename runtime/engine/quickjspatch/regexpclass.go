package quickjspatch

import (
	"bytes"

	"github.com/pages-toolchain/pages/runtime/wasmbinary/op"
)

// This file corrects QuickJS's parser of regular expressions. With the flag v
// some characters (- and /) and pairs of them (&& and !!, say) are reserved in a
// character class (ECMA-262, ClassSetSyntaxCharacter and
// ClassSetReservedDoublePunctuator); QuickJS refuses them everywhere, so that
// /a-b/v is a SyntaxError (github.com/bellard/quickjs/issues/520). Its
// get_class_atom (parser, ranges, position, whether in a class) -> int asks for
// the flag before it gives one of the messages below; it is made to ask also
// for the class, and to go on where it goes without the flag.

// reservedMessages are what get_class_atom says.
var reservedMessages = []string{
	"invalid class set operation in regular expression\x00",
	"invalid character in class in regular expression\x00",
}

const (
	// inClass is the parameter that says whether a class is read.
	inClass = 3
	// classAtomType is the type of get_class_atom, as it is encoded.
	classAtomType = "\x60\x04\x7f\x7f\x7f\x7f\x01\x7f"
)

// reservedAddresses are the instructions that load the address of a message.
func reservedAddresses(data []segment) (loads [][]byte) {
	for _, s := range data {
		for _, message := range reservedMessages {
			if i := bytes.Index(s.bytes, []byte(message)); i >= 0 {
				loads = append(loads, op.AppendS32([]byte{op.I32Const}, int32(s.address)+int32(i)))
			}
		}
	}
	return loads
}

// isClassAtom reports whether function i of the module's own can be get_class_atom.
func (l layout) isClassAtom(i int) bool {
	return l.hasType(i, classAtomType)
}

// requireClass returns code with the question for the class before each of loads
// that a conditional branch stands before: br_if n, local.get parser, load.
func requireClass(code []byte, loads [][]byte) []byte {
	var out []byte
	kept := 0
	all := instructions(code)
	for i, in := range all {
		for _, load := range loads {
			if i < 2 || !bytes.Equal(code[in.start:in.end], load) {
				continue
			}
			if branch, get := all[i-2].start, all[i-1].start; code[get] == op.LocalGet && code[branch] == op.BrIf {
				out = append(append(out, code[kept:get]...), op.LocalGet, inClass, op.I32Eqz)
				out = append(out, code[branch:get]...)
				kept = get
			}
		}
	}
	return append(out, code[kept:]...)
}
