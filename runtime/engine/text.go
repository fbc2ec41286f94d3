package engine

import "unsafe"

// This file makes bytes of text and text of bytes where they lie in linear
// memory: a Go string in between is two more copies of what may be megabytes.

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

// DecodedView is a string of a part of what View returned, which must be valid
// UTF-8.
func (c *Call) DecodedView(view []byte) (Value, error) {
	vm := c.vm
	ptr := uint32(0)
	if len(view) > 0 {
		ptr = uint32(uintptr(unsafe.Pointer(&view[0])) - uintptr(unsafe.Pointer(&vm.read(0, 1)[0])))
	}
	return vm.made(vm.call(fnNewString, uint64(vm.js), uint64(ptr), uint64(len(view))))
}
