package quickjspatch

import (
	"github.com/pages-toolchain/pages/runtime/wasmbinary/op"
)

// This file has the host read dates. Of what is not in its own format the standard
// leaves to the engine what it means (ECMA-262, 21.4.3.2), and QuickJS and V8 differ
// there in a tenth of what people and programs write. js_Date_parse (context, this,
// count, arguments) -> value, which the constructor calls too, becomes a call of the
// import env.host_call with the arguments and [MarkDate], whose result is the address
// of the value.

const (
	// MarkDate is a mark in the second argument of env.host_call.
	MarkDate = 0xfffffffc

	// dateParserType is the type of js_Date_parse.
	dateParserType = "\x60\x04\x7f\x7e\x7f\x7f\x01\x7e"
)

// dateYear is what js_Date_parse alone has: it keeps a year in local 3 and that there is one in local 10.
var dateYear = []byte{op.LocalGet, 4, op.LocalGet, 3, op.I32Store, 2, 0xd0, 1, op.I32Const, 1, op.LocalSet, 10}

// dateBody is the body of js_Date_parse.
func (f *patcher) dateBody() []byte {
	out := appendGet([]byte{0}, 3)
	out = append(op.AppendS32(append(out, op.I32Const), MarkDate-1<<32), op.I32Const, 0, op.I32Const, 0, op.I32Const, 0)
	return append(op.AppendU32(append(out, op.Call), f.host), op.I64Load, 3, 0, op.End)
}
