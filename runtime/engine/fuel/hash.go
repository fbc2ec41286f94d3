package fuel

import "bytes"

// This file corrects how QuickJS spreads the keys of Map and Set over their
// buckets. It takes the lowest bits of key*3163, where the key is the address of
// an object, a multiple of sixteen, or the upper half of a number as a double,
// whose lower bits are zero for a whole number: all numbers from 512 to 1023
// share one bucket, and a Map of a thousand rows by their id is a list. Here the
// product is one of all bits, and its upper half comes to lie below.

const (
	opI32Mul  = 0x6c
	opI32Rotl = 0x77
	// spreader is 2^32 divided by the golden ratio, odd (Knuth, The Art of Computer
	// Programming, 6.4).
	spreader = -0x61c88647
	half     = 16
)

// hashFactor is QuickJS's own: i32.const 3163, i32.mul.
var hashFactor = append(appendS32([]byte{opI32Const}, 3163), opI32Mul)

// spreadKeys returns code with the hashes of numbers and addresses spread: those
// that are made of a 64-bit value.
func spreadKeys(code []byte) []byte {
	var out []byte
	kept := 0
	all := instructions(code)
	for i, in := range all {
		if i > 0 && code[all[i-1].start] == opWrap && bytes.HasPrefix(code[in.start:], hashFactor) {
			out = append(appendS32(append(append(out, code[kept:in.start]...), opI32Const), spreader), opI32Mul)
			out = append(appendS32(append(out, opI32Const), half), opI32Rotl)
			kept = in.start + len(hashFactor)
		}
	}
	return append(out, code[kept:]...)
}
