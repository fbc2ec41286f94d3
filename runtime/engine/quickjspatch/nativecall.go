package quickjspatch

import (
	"bytes"
	"errors"

	"github.com/pages-toolchain/pages/runtime/wasmbinary"
	"github.com/pages-toolchain/pages/runtime/wasmbinary/op"
)

// nativeCaller makes calls of functions without bytecode cheap: built-in, bound, asynchronous and generator functions, and proxies.
// JS_CallInternal (context, function, this, new target, argc, argv, flags) -> value, the interpreter, makes its own frame of
// 224 bytes on the C stack, and of some kilobytes on the machine's, before it calls the function of their class. The calls
// that bytecode makes go to a new function that looks at the class first: map with a callback takes a quarter less of the
// stack, and a recursion of async functions half.
type nativeCaller struct {
	interpreter, interpreterType uint32
	poll                         uint32 // js_poll_interrupts (context) -> whether an exception was thrown
	classCall                    uint32 // type (context, function, this, argc, argv, flags) -> value
}

const (
	interpreterType = "\x60\x07\x7f\x7e\x7e\x7e\x7f\x7f\x7f\x01\x7e"
	classCallType   = "\x60\x06\x7f\x7e\x7e\x7f\x7f\x7f\x01\x7e"

	runtimeClasses = 584 // of a JSRuntime: the table of classes
	classSize      = 24
	classFunction  = 16 // of a class: its function, 0 for none
	bytecodeClass  = 13
)

var (
	// pollStart is the interpreter's call of js_poll_interrupts, before its index.
	pollStart = []byte{op.Block, op.BlockEmpty, op.LocalGet, 0, op.Call}
	// classOfFunction reads the class of the function in local 1, and leaves for that of bytecode.
	classOfFunction = []byte{
		op.LocalGet, 1, op.I32WrapI64, op.LocalTee, 26, op.I32Load16U, 1, ObjectClass, op.LocalTee, 8,
		op.I32Const, bytecodeClass, op.I32Eq, op.BrIf, 2,
	}
	// classTable reads the function of the class in local 8. The runtime is in local 23.
	classTable = []byte{
		op.LocalGet, 23, op.I32Load, 2, runtimeClasses&0x7f | 0x80, runtimeClasses >> 7, op.LocalGet, 8, op.I32Const, classSize,
		op.I32Mul, op.I32Add, op.I32Load, 2, classFunction,
	}
)

func (l layout) nativeCaller() (n nativeCaller, err error) {
	found, err := l.uniqueFunction(interpreterType, classOfFunction, 1)
	if err != nil {
		return n, err
	}
	code, class := l.code[found], l.typeIndex(classCallType)
	if bytes.Count(code, classTable) != 1 || class < 0 {
		return n, errors.New("the interpreter does not look up the function of a class as expected")
	}
	at := bytes.Index(code, pollStart)
	if at < 0 {
		return n, errors.New("the interpreter does not begin with a look for interrupts")
	}
	n.poll = (&wasmbinary.Reader{Bytes: code, At: at + len(pollStart)}).U32()
	n.interpreter, n.classCall = l.imports.funcs+uint32(found), uint32(class)
	n.interpreterType = l.typeOf(n.interpreter)
	return n, nil
}

// insertCalls returns the code of the interpreter with its calls of itself as calls of the new function.
func (n nativeCaller) insertCalls(code []byte, to uint32) []byte {
	var out []byte
	copied := 0
	own := appendCall(nil, n.interpreter)
	for _, in := range instructions(code) {
		if bytes.Equal(code[in.start:in.end], own) {
			out = appendCall(append(out, code[copied:in.start]...), to)
			copied = in.end
		}
	}
	return append(out, code[copied:]...)
}

// callBody is
//
//	if function is an object, and not of bytecode {
//		if call = runtime.classes[its class].call {
//			if poll(context) { return exception }
//			return call(context, function, this, argc, argv, flags)
//		}
//	}
//	interpreter(its own seven)
func (n nativeCaller) callBody() []byte {
	const (
		context, function, this, target, argc, argv, flags = 0, 1, 2, 3, 4, 5, 6
		class                                              = 7
	)
	out := []byte{1, 1, typeI32, op.Block, op.BlockEmpty}
	out = append(appendGet(out, function), op.I64Const, 0x80, 0x80, 0x80, 0x80, 0x70, op.I64LtU, op.BrIf, 0) // -1<<32
	out = append(appendGet(out, function), op.I32WrapI64, op.I32Load16U, 1, ObjectClass, op.LocalTee, class)
	out = append(out, op.I32Const, bytecodeClass, op.I32Eq, op.BrIf, 0)
	out = append(appendGet(out, context), op.I32Load, 2, contextRuntime, op.I32Load, 2, runtimeClasses&0x7f|0x80, runtimeClasses>>7)
	out = append(appendGet(out, class), op.I32Const, classSize, op.I32Mul, op.I32Add, op.I32Load, 2, classFunction)
	out = append(out, op.LocalTee, class, op.I32Eqz, op.BrIf, 0)
	out = append(appendCall(appendGet(out, context), n.poll), op.If, op.BlockEmpty)
	out = append(append(out, exception...), op.Return, op.End)
	out = appendGets(out, context, function, this, argc, argv, flags, class)
	out = append(op.AppendU32(append(out, op.CallIndirect), n.classCall), 0, op.Return, op.End)
	return append(appendCall(appendGets(out, context, function, this, target, argc, argv, flags), n.interpreter), op.End)
}
