package quickjspatch

import (
	"bytes"
	"errors"
	"slices"

	"github.com/pages-toolchain/pages/runtime/wasmbinary"
	"github.com/pages-toolchain/pages/runtime/wasmbinary/op"
)

// errorMaker makes the stack the first own property of an error, before message and cause, as in V8: libraries that show or store errors
// list the properties in order. QuickJS defines it last. Its calls of JS_NewObjectProtoClass (context, prototype, class) -> value for an
// error go to a new function, which also defines a stack of undefined; that keeps its place when prepareStackTrace gives the error its own.
// Where that did not run it is removed again (tracer).
type errorMaker struct {
	newObject, newType uint32
	define             uint32 // JS_DefinePropertyValue (context, object, atom, value, flags) -> int
	remove             uint32 // JS_DeleteProperty (context, object, atom, flags) -> int
	find, askType      uint32 // find_own_property1 (shape, atom) -> property; (object) -> int
}

const (
	errorClass  = 3
	atomOfStack = 57

	objectShape    = 12         // of a JSObject
	objectProps    = 16         // its values, in the order of the shape
	shapeHashMask  = 16         // of a JSShape
	shapeCount     = 24         // of properties
	shapeFirstAtom = 40 + 4 + 4 // less four bytes for each of the hash mask
)

func (l layout) errorMaker() (e errorMaker, err error) {
	var hasNew, hasDefine, hasRemove bool
	e.newObject, hasNew = l.exports["JS_NewObjectProtoClass"]
	e.define, hasDefine = l.exports["JS_DefinePropertyValue"]
	e.remove, hasRemove = l.exports["JS_DeleteProperty"]
	if !hasNew || !hasDefine || !hasRemove {
		return e, errors.New("the module lacks JS_NewObjectProtoClass, JS_DefinePropertyValue or JS_DeleteProperty")
	}
	e.newType = l.typeOf(e.newObject)
	// build_backtrace defines the stack in two places.
	defining := appendCall([]byte{op.I32Const, atomOfStack, op.LocalGet, 2, op.I32Const, 3}, e.define)
	found, asking := slices.ContainsFunc(l.code, func(code []byte) bool { return bytes.Count(code, defining) == 2 }), l.typeIndex(askType)
	storing, err := l.uniqueFunction(canStoreType, findStack, 1)
	if err != nil || !found || asking < 0 {
		return e, errors.Join(errors.New("the module does not define the stack of an error as expected"), err)
	}
	code := l.code[storing]
	at := bytes.Index(code, findStack) + len(findStack)
	e.find, e.askType = (&wasmbinary.Reader{Bytes: code, At: at}).U32(), uint32(asking)
	if !bytes.Contains(code, e.ownStackCheck()) {
		return e, errors.New("the module does not look for the stack of an error as expected")
	}
	return e, nil
}

const (
	canStoreType = "\x60\x01\x7e\x01\x7f"
	askType      = "\x60\x01\x7f\x01\x7f"
)

// findStack is, in can_store_error_stack (value) -> bool, the search for a stack of an error in local 1, before its index. An
// error that has one gets none.
var findStack = []byte{
	op.LocalGet, 1, op.I64Load32U, 2, 28, op.I64Const, 32, op.I64Shl, op.I64Const, 0x80, 0x80, 0x80, 0x80, 0x30, op.I64Ne, op.BrIf, 0,
	op.LocalGet, 1, op.I32Const, objectShape, op.I32Add, op.I32Load, 2, 0, op.I32Const, atomOfStack, op.Call,
}

// ownStackCheck is the end of findStack, with the call.
func (e errorMaker) ownStackCheck() []byte {
	return appendCall(bytes.Clone(findStack[len(findStack)-11:len(findStack)-1]), e.find)
}

// askBody is, for an object:
//
//	if its first property is the stack that makeBody defined { return 0 }
//	find(its shape, stack)
func (e errorMaker) askBody() []byte {
	const object, shape = 0, 1
	out := e.appendUnlessMade([]byte{1, 1, typeI32, op.Block, op.BlockEmpty}, []byte{op.LocalGet, object}, shape)
	out = append(out, op.I32Const, 0, op.Return, op.End)
	out = append(appendGet(out, object), op.I32Load, 2, objectShape, op.I32Const, atomOfStack)
	return append(appendCall(out, e.find), op.End)
}

// redirectErrors returns code with its calls for an error as calls of the new functions.
func (e errorMaker) redirectErrors(code []byte, to, ask uint32) []byte {
	making := []byte{op.I32Const, errorClass}
	code = bytes.ReplaceAll(code, e.ownStackCheck(), appendCall([]byte{op.LocalGet, 1}, ask))
	return bytes.ReplaceAll(code, appendCall(bytes.Clone(making), e.newObject), appendCall(making, to))
}

// appendUnlessMade leaves the block around unless the first property of an object is a stack of undefined.
func (e errorMaker) appendUnlessMade(out, object []byte, shape byte) []byte {
	out = append(append(out, object...), op.I32Load, 2, objectShape, op.LocalTee, shape)
	out = append(out, op.I32Load, 2, shapeCount, op.I32Eqz, op.BrIf, 0)
	out = append(append(out, object...), op.I32Load, 2, objectProps, op.I64Load, 3, 0)
	out = append(append(out, undefined...), op.I64Ne, op.BrIf, 0)
	out = append(appendGet(out, shape), op.I32Load, 2, shapeHashMask, op.I32Const, 2, op.I32Shl)
	return append(appendGet(out, shape), op.I32Add, op.I32Load, 2, shapeFirstAtom, op.I32Const, atomOfStack, op.I32Ne, op.BrIf, 0)
}

// appendRemove appends, for an error in local 1 and one more local for an i32:
//
//	if error is an object, and its first property is the stack that makeBody defined { delete(context, error, stack, 0) }
func (e errorMaker) appendRemove(out []byte, shape byte) []byte {
	const context, object = 0, 1
	out = append(out, op.Block, op.BlockEmpty)
	out = append(appendGet(out, object), op.I64Const, 0x80, 0x80, 0x80, 0x80, 0x70, op.I64LtU, op.BrIf, 0) // -1<<32
	out = e.appendUnlessMade(out, []byte{op.LocalGet, object, op.I32WrapI64}, shape)
	out = append(appendGets(out, context, object), op.I32Const, atomOfStack, op.I32Const, 0)
	return append(appendCall(out, e.remove), op.Drop, op.End)
}

// makeBody is
//
//	object = JS_NewObjectProtoClass(context, prototype, class)
//	if object is an object { define(context, object, stack, undefined, writable and configurable) }
//	object
func (e errorMaker) makeBody() []byte {
	const context, prototype, class, object = 0, 1, 2, 3
	out := appendCall(appendGets([]byte{1, 1, typeI64}, context, prototype, class), e.newObject)
	out = append(out, op.LocalTee, object, op.I64Const, 0x80, 0x80, 0x80, 0x80, 0x70, op.I64LtU, op.If, op.BlockEmpty) // -1<<32
	out = append(append(out, exception...), op.Return, op.End)
	out = append(appendGets(out, context, object), op.I32Const, atomOfStack)
	out = append(append(out, undefined...), op.I32Const, 3)
	out = append(appendCall(out, e.define), op.Drop)
	return append(appendGet(out, object), op.End)
}
