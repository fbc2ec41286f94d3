package fuel

import "bytes"

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
	// askedBefore keeps in local 14 whether the list in local 8 is of enumerable properties alone.
	askedBefore = []byte{opLocalGet, 8, opI32Const, 15, opI32GtU, opLocalSet, 14}
	// notAsked keeps there that it is not.
	notAsked = []byte{opI32Const, 0, opLocalSet, 14}
)

// isCopier reports whether function i of the module's own can be JS_CopyDataProperties.
func (l layout) isCopier(i int) bool {
	return l.isOfType(i, copierType)
}

// askingEach returns code that asks for each property, if it has the question once.
func askingEach(code []byte) []byte {
	if bytes.Count(code, askedBefore) != 1 {
		return code
	}
	return bytes.Replace(code, askedBefore, notAsked, 1)
}
