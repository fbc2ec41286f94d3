package engine

import (
	"encoding/binary"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"
)

// This file makes bytes of text and text of bytes where they lie in linear
// memory: a Go string in between is two more copies of what may be megabytes.
// QuickJS keeps a string with a character above U+00FF as UTF-16; Go converts
// that several times as fast.

// EncodedText is ToString of argument i as a Uint8Array of UTF-8; a lone
// surrogate becomes the three bytes that would stand for it.
func (c *Call) EncodedText(i int) (Value, error) {
	vm := c.vm
	ptr := vm.call32(fnToCString, uint64(vm.js), uint64(vm.scratch), uint64(c.arg(i)), 0)
	if ptr == 0 {
		return 0, vm.exception()
	}
	defer func() { vm.call(fnFreeCString, uint64(vm.js), uint64(ptr)) }()
	return vm.made(vm.call(fnNewUint8Array, uint64(vm.js), uint64(ptr), uint64(vm.readU32(vm.scratch))))
}

// EncodedWideText is EncodedText for text that has characters above U+00FF; a
// lone surrogate becomes U+FFFD.
func (c *Call) EncodedWideText(i int) (Value, error) {
	vm := c.vm
	ptr := vm.call32(fnToWideString, uint64(vm.js), uint64(vm.scratch), uint64(c.arg(i)))
	if ptr == 0 {
		return 0, vm.exception()
	}
	units := vm.readU32(vm.scratch)
	out := appendUTF8(make([]byte, 0, 2*units), vm.read(ptr, 2*units))
	vm.call(fnFreeWideString, uint64(vm.js), uint64(ptr))
	return vm.newBytes(out)
}

// appendUTF8 appends UTF-16, of two bytes a unit, as UTF-8.
func appendUTF8(out, units []byte) []byte {
	for i := 0; i+1 < len(units); i += 2 {
		r := rune(binary.LittleEndian.Uint16(units[i:]))
		if r < utf8.RuneSelf {
			out = append(out, byte(r))
			continue
		}
		if utf16.IsSurrogate(r) {
			low := rune(0)
			if i+3 < len(units) {
				low = rune(binary.LittleEndian.Uint16(units[i+2:]))
			}
			if r = utf16.DecodeRune(r, low); r != utf8.RuneError {
				i += 2
			}
		}
		out = utf8.AppendRune(out, r)
	}
	return out
}

// wideView is DecodedView for text that has characters above U+00FF.
func (vm *VM) wideView(view []byte) (Value, error) {
	units := 0
	for _, b := range view {
		switch {
		case b >= 0xf0:
			units += 2
		case b < utf8.RuneSelf || b >= 0xc0:
			units++
		}
	}
	ptr := vm.malloc(uint32(2 * units))
	defer func() { vm.call(fnFree, uint64(ptr)) }()
	wide := vm.read(ptr, uint32(2*units))
	for len(view) > 0 {
		r, n := rune(view[0]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRune(view)
		}
		view = view[n:]
		if high, low := utf16.EncodeRune(r); high != utf8.RuneError {
			binary.LittleEndian.PutUint16(wide, uint16(high))
			wide, r = wide[2:], low
		}
		binary.LittleEndian.PutUint16(wide, uint16(r))
		wide = wide[2:]
	}
	return vm.made(vm.call(fnNewWideString, uint64(vm.js), uint64(ptr), uint64(units)))
}

// isWide reports whether valid UTF-8 has a character above U+00FF.
func isWide(view []byte) bool {
	for _, b := range view {
		if b >= 0xc4 {
			return true
		}
	}
	return false
}

// DecodedView is a string of a part of what View returned, which must be valid
// UTF-8.
func (c *Call) DecodedView(view []byte) (Value, error) {
	vm := c.vm
	const short = 1 << 10
	if len(view) > short && isWide(view) {
		return vm.wideView(view)
	}
	ptr := uint32(0)
	if len(view) > 0 {
		ptr = uint32(uintptr(unsafe.Pointer(&view[0])) - uintptr(unsafe.Pointer(&vm.read(0, 1)[0])))
	}
	return vm.made(vm.call(fnNewString, uint64(vm.js), uint64(ptr), uint64(len(view))))
}
