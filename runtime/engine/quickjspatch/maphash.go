package quickjspatch

import (
	"bytes"

	"github.com/pages-toolchain/pages/runtime/wasmbinary/op"
)

// This file corrects how QuickJS spreads the keys of Map and Set over their
// buckets. It takes the lowest bits of key*3163, where the key is the address of
// an object, a multiple of sixteen, or the upper half of a number as a double,
// whose lower bits are zero for a whole number: all numbers from 512 to 1023
// share one bucket, and a Map of a thousand rows by their id is a list. Here the
// product is one of all bits, and its upper half comes to lie below.

const (
	// hashMultiplier is 2^32 divided by the golden ratio, odd (Knuth, The Art of Computer
	// Programming, 6.4).
	hashMultiplier = -0x61c88647
	hashRotation   = 16
)

// hashFactor is QuickJS's own: i32.const 3163, i32.mul.
var hashFactor = append(op.AppendS32([]byte{op.I32Const}, 3163), op.I32Mul)

// spreadHashKeys returns code with the hashes of numbers and addresses spread: those
// that are made of a 64-bit value.
func spreadHashKeys(code []byte) []byte {
	var out []byte
	kept := 0
	all := instructions(code)
	for i, in := range all {
		if i > 0 && code[all[i-1].start] == op.I32WrapI64 && bytes.HasPrefix(code[in.start:], hashFactor) {
			out = append(op.AppendS32(append(append(out, code[kept:in.start]...), op.I32Const), hashMultiplier), op.I32Mul)
			out = append(op.AppendS32(append(out, op.I32Const), hashRotation), op.I32Rotl)
			kept = in.start + len(hashFactor)
		}
	}
	return append(out, code[kept:]...)
}
