package quickjspatch

import (
	"errors"
	"slices"

	"github.com/pages-toolchain/pages/runtime/wasmbinary"
	"github.com/pages-toolchain/pages/runtime/wasmbinary/op"
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
	passing := op.AppendU32([]byte{op.LocalGet, 2, op.LocalGet, 4, op.Call}, uint32(l.imports.hostCall))
	if t.function, err = l.uniqueFunction(trampolineType, passing, 1); err != nil {
		return t, err
	}
	r := &wasmbinary.Reader{Bytes: l.code[t.function]}
	skipLocals(r)
	if r.Byte() != op.GlobalGet {
		return t, errors.New("what calls the host does not begin with making room on the stack")
	}
	t.stack = r.U32()
	return t, r.Err
}

// callBody is its body:
//
//	room = stack pointer -= 16
//	if host_call(data, MarkCall, room, argc, argv) { load(room) } else { exception }
//	stack pointer = room + 16
func (f *patcher) callBody() []byte {
	const argc, argv, data, room, size = 2, 3, 5, 6, 16
	exception := []byte{op.I64Const, 0x80, 0x80, 0x80, 0x80, 0xe0, 0} // 6 in the upper half
	out := op.AppendU32([]byte{1, 1, typeI32, op.GlobalGet}, f.trampoline.stack)
	out = append(out, op.I32Const, size, op.I32Sub, op.LocalTee, room)
	out = op.AppendU32(append(out, op.GlobalSet), f.trampoline.stack)
	out = op.AppendS32(append(appendGet(out, data), op.I32Const), MarkCall-1<<32)
	out = op.AppendU32(append(appendGets(out, room, argc, argv), op.Call), f.host)
	out = append(out, op.If, typeI64, op.LocalGet, room, op.I64Load, 3, 0, op.Else)
	out = append(slices.Concat(out, exception), op.End)
	out = append(appendGet(out, room), op.I32Const, size, op.I32Add)
	return append(op.AppendU32(append(out, op.GlobalSet), f.trampoline.stack), op.End)
}
