package quickjspatch

import (
	"bytes"

	"github.com/pages-toolchain/pages/runtime/wasmbinary/op"
)

// This file corrects what QuickJS lets the trap defineProperty of a Proxy do. Of a
// property that cannot be configured but be written, as the length of an array
// is, it refuses what does not say writable, and what says writable: true: p.push(1)
// throws where p is an array behind such a trap. Only writable: false is to be
// refused (ECMA-262, 10.5.6, step 16.c). js_proxy_define_own_property (context, object,
// name, value, getter, setter, flags) -> int asks for it at two places.

// definerType is the type of js_proxy_define_own_property, as it is encoded.
const definerType = "\x60\x07\x7f\x7e\x7f\x7e\x7e\x7e\x7f\x01\x7f"

var (
	// writableCheck is flags & writable == 0, before the question for a value.
	writableCheck = []byte{
		op.LocalGet, 6, op.I32Const, 2, op.I32And, op.I32Eqz, op.LocalGet, 2, op.I32Const, 3, op.I32And, op.LocalTee, 2,
		op.I32Const, 2, op.I32Eq, op.I32And,
	}
	// hasWritableCheck leaves the block at depth 2 unless local 13, flags & has_writable, and
	// goes on with the flags of the target.
	hasWritableCheck = []byte{op.LocalGet, 13, op.I32Eqz, op.BrIf, 2, op.LocalGet, 7, op.I32Load, 2, 0, op.I32Const, 19, op.I32And}
	// loadWritableFlags is flags & (has_writable | writable) and what it is for writable: false.
	loadWritableFlags = []byte{op.LocalGet, 6, op.I32Const, 0x82, 4, op.I32And, op.I32Const, 0x80, 4}
)

// isProxyDefine reports whether function i of the module's own can be js_proxy_define_own_property.
func (l layout) isProxyDefine(i int) bool {
	return l.hasType(i, definerType)
}

// refuseUnwritableOnly returns code with both questions for writable: false, if it
// has exactly these two.
func refuseUnwritableOnly(code []byte) []byte {
	if bytes.Count(code, writableCheck) != 1 || bytes.Count(code, hasWritableCheck) != 1 {
		return code
	}
	of := append(append(bytes.Clone(loadWritableFlags), op.I32Eq), writableCheck[6:]...)
	code = bytes.Replace(code, writableCheck, of, 1)
	says := append(append(bytes.Clone(loadWritableFlags), op.I32Ne), hasWritableCheck[3:]...)
	return bytes.Replace(code, hasWritableCheck, says, 1)
}
