package fuel

import "bytes"

// This file corrects what QuickJS lets the trap defineProperty of a Proxy do. Of a
// property that cannot be configured but be written, as the length of an array
// is, it refuses what does not say writable, and what says writable: true: p.push(1)
// throws where p is an array behind such a trap. Only writable: false is to be
// refused (ECMA-262, 10.5.6, step 16.c). js_proxy_define_own_property (context, object,
// name, value, getter, setter, flags) -> int asks for it at two places.

// definerType is the type of js_proxy_define_own_property, as it is encoded.
const definerType = "\x60\x07\x7f\x7e\x7f\x7e\x7e\x7e\x7f\x01\x7f"

var (
	// unwritable is flags & writable == 0, before the question for a value.
	unwritable = []byte{opLocalGet, 6, opI32Const, 2, opI32And, opI32Eqz, opLocalGet, 2, opI32Const, 3, opI32And, opLocalTee, 2, opI32Const, 2, opI32Eq, opI32And}
	// sayingWritable leaves the block at depth 2 unless local 13, flags & has_writable, and
	// goes on with the flags of the target.
	sayingWritable = []byte{opLocalGet, 13, opI32Eqz, opBrIf, 2, opLocalGet, 7, opI32Load, 2, 0, opI32Const, 19, opI32And}
	// asked is flags & (has_writable | writable) and what it is for writable: false.
	asked = []byte{opLocalGet, 6, opI32Const, 0x82, 4, opI32And, opI32Const, 0x80, 4}
)

// isDefiner reports whether function i of the module's own can be js_proxy_define_own_property.
func (l layout) isDefiner(i int) bool {
	return l.isOfType(i, definerType)
}

// refusingUnwritable returns code with both questions for writable: false, if it
// has exactly these two.
func refusingUnwritable(code []byte) []byte {
	if bytes.Count(code, unwritable) != 1 || bytes.Count(code, sayingWritable) != 1 {
		return code
	}
	of := append(append(bytes.Clone(asked), opI32Eq), unwritable[6:]...)
	code = bytes.Replace(code, unwritable, of, 1)
	says := append(append(bytes.Clone(asked), opI32Ne), sayingWritable[3:]...)
	return bytes.Replace(code, sayingWritable, says, 1)
}
