package quickjspatch

import (
	"bytes"
	"errors"
	"slices"

	"github.com/pages-toolchain/pages/runtime/wasmbinary"
	"github.com/pages-toolchain/pages/runtime/wasmbinary/op"
)

// circleFinder makes JSON.stringify of deeply nested data take linear time. js_json_to_str looks for each object in the list
// of those around it, by js_array_includes (context, list, argc, argv) -> value. Its call goes to a new function, which beyond
// a depth checks only every n-th object: it still finds a cycle, one round later.
type circleFinder struct {
	includes, includesType uint32
}

// circlePace is that depth and n, a power of two.
const circlePace = 1 << 10

// circleCall is the call, before its index: the list is at offset 8 of local 1, the object in a slot at local 5.
var circleCall = []byte{
	op.LocalGet, 0, op.LocalGet, 1, op.I64Load, 3, 8, op.I32Const, 1, op.LocalGet, 5, op.I32Const, 8, op.I32Add, op.Call,
}

func (l layout) circleFinder() (c circleFinder, err error) {
	i := slices.IndexFunc(l.code, func(code []byte) bool { return bytes.Count(code, circleCall) == 1 })
	if i < 0 {
		return c, errors.New("the module does not look for rings of objects in JSON as expected")
	}
	c.includes = (&wasmbinary.Reader{Bytes: l.code[i], At: bytes.Index(l.code[i], circleCall) + len(circleCall)}).U32()
	c.includesType = l.typeOf(c.includes)
	return c, nil
}

// redirectCall returns code with the call as one of the new function.
func (c circleFinder) redirectCall(code []byte, to uint32) []byte {
	return bytes.ReplaceAll(code, appendCall(bytes.Clone(circleCall[:len(circleCall)-1]), c.includes),
		appendCall(bytes.Clone(circleCall[:len(circleCall)-1]), to))
}

// includesBody is
//
//	count = that of the list
//	if count > circlePace and count % circlePace != 0 { return false }
//	return includes(its own four)
func (c circleFinder) includesBody() []byte {
	const list, count = 1, 4
	pace := op.AppendS32([]byte{op.I32Const}, circlePace)
	out := append(appendGet([]byte{1, 1, typeI32}, list), op.I32WrapI64, op.I32Load, 2, ArrayCount, op.LocalTee, count)
	out = append(append(append(out, pace...), op.I32GtU, op.LocalGet, count), op.AppendS32([]byte{op.I32Const}, circlePace-1)...)
	out = append(out, op.I32And, op.I32Const, 0, op.I32Ne, op.I32And, op.If, op.BlockEmpty)
	out = append(out, op.I64Const, 0x80, 0x80, 0x80, 0x80, 0x10, op.Return, op.End) // 1 in the upper half, 0 in the lower
	return append(appendCall(appendGets(out, 0, 1, 2, 3), c.includes), op.End)
}
