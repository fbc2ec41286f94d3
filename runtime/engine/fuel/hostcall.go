package fuel

import (
	"errors"
	"slices"
)

// This file has the host called without copies. What lies behind every host function
// (context, this, argc, argv, magic, data) -> value makes a C string of the function's
// name and a box of each argument, and takes its result out of a box, which is most of
// what a short call costs. Here it calls the import env.host_call with the address of its
// data, which is the name, [MarkCall], where the result is to go, and the number and the
// address of the arguments. The answer is 0 when an exception is pending instead.

const (
	// MarkCall is a mark in the second argument of env.host_call.
	MarkCall = 0xfffffffb

	trampolineType = "\x60\x06\x7f\x7e\x7f\x7f\x7f\x7f\x01\x7e"
)

// trampoline is the function of the module's own, and its stack pointer.
type trampoline struct {
	function int
	stack    uint32
}

// trampoline finds it: the one of its type that passes its argc, and the boxes that it
// made, to the import.
func (l layout) trampoline() (t trampoline, err error) {
	passing := appendU32([]byte{opLocalGet, 2, opLocalGet, 4, opCall}, uint32(l.imports.hostCall))
	if t.function, err = l.only(trampolineType, passing, 1); err != nil {
		return t, err
	}
	r := &reader{b: l.code[t.function]}
	r.locals()
	if r.byte() != opGlobalGet {
		return t, errors.New("what calls the host does not begin with making room on the stack")
	}
	t.stack = r.u32()
	return t, r.err
}

// callBody is its body:
//
//	room = stack pointer -= 16
//	if host_call(data, MarkCall, room, argc, argv) { load(room) } else { exception }
//	stack pointer = room + 16
func (f *follower) callBody() []byte {
	const argc, argv, data, room, size = 2, 3, 5, 6, 16
	exception := []byte{opI64Const, 0x80, 0x80, 0x80, 0x80, 0xe0, 0} // 6 in the upper half
	out := appendU32([]byte{1, 1, typeI32, opGlobalGet}, f.trampoline.stack)
	out = append(out, opI32Const, size, opI32Sub, opLocalTee, room)
	out = appendU32(append(out, opGlobalSet), f.trampoline.stack)
	out = appendS32(append(appendGet(out, data), opI32Const), MarkCall-1<<32)
	out = appendU32(append(appendGets(out, room, argc, argv), opCall), f.host)
	out = append(out, opIf, typeI64, opLocalGet, room, opI64Load, 3, 0, opElse)
	out = append(slices.Concat(out, exception), opEnd)
	out = append(appendGet(out, room), opI32Const, size, opI32Add)
	return append(appendU32(append(out, opGlobalSet), f.trampoline.stack), opEnd)
}
