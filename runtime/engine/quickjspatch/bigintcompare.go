package quickjspatch

import (
	"bytes"

	"github.com/pages-toolchain/pages/runtime/wasmbinary/op"
)

// This file corrects how QuickJS compares a BigInt with a Number that is not
// whole. Of two negative values whose exponents differ, js_bigint_float64_cmp
// (bigint, double) -> -1, 0, 1 or 2 takes the smaller exponent for the smaller
// value, so that -0.5 > -1n is false: the sign is missing there (ECMA-262,
// 7.2.12, IsLessThan). It is in a local by then.

const (
	// comparerType is the type of js_bigint_float64_cmp, as it is encoded.
	comparerType = "\x60\x02\x7f\x7c\x01\x7f"
)

// compareExponents is the end of the comparison of exponents: -1 or 1, by whether the
// one in local 0 is less than the one in local 2. Local 3 is the sign.
var compareExponents = []byte{op.I32Const, 0x7f, op.I32Const, 1, op.LocalGet, 0, op.LocalGet, 2, op.I32LtS, op.Select}

// compareSignedExponents is exponents with the sign.
var compareSignedExponents = []byte{
	op.I32Const, 0x7f, op.I32Const, 1, op.LocalGet, 0, op.LocalGet, 2, op.I32LtS, op.LocalGet, 3, op.I32Xor, op.Select,
}

// isBigIntCompare reports whether function i of the module's own can be js_bigint_float64_cmp.
func (l layout) isBigIntCompare(i int) bool {
	return l.hasType(i, comparerType)
}

// compareWithSign returns code with the sign in its comparison of exponents, if it has
// exactly one.
func compareWithSign(code []byte) []byte {
	if bytes.Count(code, compareExponents) != 1 {
		return code
	}
	return bytes.Replace(code, compareExponents, compareSignedExponents, 1)
}
