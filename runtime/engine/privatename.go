package engine

import (
	"bytes"
	"encoding/binary"
	"errors"

	"github.com/pages-toolchain/pages/runtime/engine/quickjspatch"
)

// This file makes private names of the prelude's names that begin with quickjspatch.PrivatePrefix.

const (
	bytecodeHeader = 5          // a byte for the version, four for the checksum
	uncheckedCode  = 0xffffffff // in place of a checksum
)

// privateNames makes private symbols of the atoms of bytecode that begin with PrivatePrefix.
func privateNames(code []byte) error {
	if len(code) < bytecodeHeader {
		return errBytecode
	}
	binary.LittleEndian.PutUint32(code[1:], uncheckedCode)
	at := bytecodeHeader
	number := func() (n int) {
		u, size := binary.Uvarint(code[at:])
		if size <= 0 || u > uint64(len(code))<<1 {
			at = len(code)
			return 0
		}
		at += size
		return int(u)
	}
	for range number() {
		if at >= len(code) {
			return errBytecode
		}
		kind := at
		at++
		if code[kind] == 0 { // one that every virtual machine has, by its number
			at += 4
			continue
		}
		length := number()
		size := length >> 1 << (length & 1) // bit 0: two bytes each
		if size > len(code)-at {
			return errBytecode
		}
		if code[kind] == quickjspatch.AtomString && bytes.HasPrefix(code[at:at+size], []byte(quickjspatch.PrivatePrefix)) {
			code[kind] = quickjspatch.AtomPrivate
		}
		at += size
	}
	return nil
}

var errBytecode = errors.New("the bytecode of the prelude cannot be read")
