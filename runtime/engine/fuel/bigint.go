package fuel

import "bytes"

// This file corrects how QuickJS compares a BigInt with a Number that is not
// whole. Of two negative values whose exponents differ, js_bigint_float64_cmp
// (bigint, double) -> -1, 0, 1 or 2 takes the smaller exponent for the smaller
// value, so that -0.5 > -1n is false: the sign is missing there (ECMA-262,
// 7.2.12, IsLessThan). It is in a local by then.

const (
	opI32LtS = 0x48
	opI32Xor = 0x73
	// comparerType is the type of js_bigint_float64_cmp, as it is encoded.
	comparerType = "\x60\x02\x7f\x7c\x01\x7f"
)

// exponents is the end of the comparison of exponents: -1 or 1, by whether the
// one in local 0 is less than the one in local 2. Local 3 is the sign.
var exponents = []byte{opI32Const, 0x7f, opI32Const, 1, opLocalGet, 0, opLocalGet, 2, opI32LtS, opSelect}

// signedExponents is exponents with the sign.
var signedExponents = []byte{opI32Const, 0x7f, opI32Const, 1, opLocalGet, 0, opLocalGet, 2, opI32LtS, opLocalGet, 3, opI32Xor, opSelect}

// isComparer reports whether function i of the module's own can be js_bigint_float64_cmp.
func (l layout) isComparer(i int) bool {
	return l.isOfType(i, comparerType)
}

// withSign returns code with the sign in its comparison of exponents, if it has
// exactly one.
func withSign(code []byte) []byte {
	if bytes.Count(code, exponents) != 1 {
		return code
	}
	return bytes.Replace(code, exponents, signedExponents, 1)
}
