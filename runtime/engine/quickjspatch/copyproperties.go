package quickjspatch

import (
	"bytes"

	"github.com/pages-toolchain/pages/runtime/wasmbinary/op"
)

// This file corrects when QuickJS asks whether a property is enumerable that is
// copied by Object.assign, by ...object and by {...rest}: of all properties
// before the first is read, but for proxies. A getter that comes before takes a
// property away or hides it, and it is copied nevertheless, as undefined in the
// first case; libraries that bring core-js put their own Object.assign in the
// place of one that does so. JS_CopyDataProperties (context, target, source,
// excluded, setting) -> int can ask for each when it is its turn (ECMA-262,
// 7.3.26, step 4.c): it is made to for all.

// copierType is the type of JS_CopyDataProperties, as it is encoded.
const copierType = "\x60\x05\x7f\x7e\x7e\x7e\x7f\x01\x7f"

var (
	// askOnce keeps in local 14 whether the list in local 8 is of enumerable properties alone.
	askOnce = []byte{op.LocalGet, 8, op.I32Const, 15, op.I32GtU, op.LocalSet, 14}
	// askAlways keeps there that it is not.
	askAlways = []byte{op.I32Const, 0, op.LocalSet, 14}
)

// isCopyDataProperties reports whether function i of the module's own can be JS_CopyDataProperties.
func (l layout) isCopyDataProperties(i int) bool {
	return l.hasType(i, copierType)
}

// askForEach returns code that asks for each property, if it has the question once.
func askForEach(code []byte) []byte {
	if bytes.Count(code, askOnce) != 1 {
		return code
	}
	return bytes.Replace(code, askOnce, askAlways, 1)
}
