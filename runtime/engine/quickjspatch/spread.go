package quickjspatch

import (
	"errors"

	"github.com/pages-toolchain/pages/runtime/wasmbinary/op"
)

// spreader corrects ...text in an object. JS_CopyDataProperties (context, target, source, excluded, setting) -> int copies nothing of a
// primitive, but a text has its characters as properties (ECMA-262, 7.3.26, step 3, ToObject): {...'ab'} is {0: 'a', 1: 'b'}. Its calls
// go to a new function that first makes an object of a text.
type spreader struct {
	copying, copyType uint32
	toObject, free    uint32 // JS_ToObject (context, value) -> value, JS_FreeValue (context, value)
}

func (l layout) spreader() (s spreader, err error) {
	found, err := l.uniqueFunction(copyProperties.typ, copyProperties.replaced[0].from, 1)
	if err != nil {
		return s, err
	}
	var hasObject, hasFree bool
	s.toObject, hasObject = l.exports["JS_ToObject"]
	s.free, hasFree = l.exports["JS_FreeValue"]
	if !hasObject || !hasFree {
		return s, errors.New("the module lacks JS_ToObject or JS_FreeValue")
	}
	s.copying = l.imports.funcs + uint32(found)
	s.copyType = l.typeOf(s.copying)
	return s, nil
}

// textBody is
//
//	if tag(source) is not text { return copy(context, target, source, excluded, setting) }
//	object = to_object(context, source)
//	if tag(object) is not an object { return -1 }
//	result = copy(context, target, object, excluded, setting)
//	free(context, object)
//	return result
func (s spreader) textBody() []byte {
	const (
		context, target, source, excluded, setting = 0, 1, 2, 3, 4
		object, result                             = 5, 6
		tagObject, tagString, tagRope              = 0x7f, 0x79, 0x7a // -1, -7 and -6 as signed LEB128
	)
	appendTag := func(out []byte, value byte) []byte {
		return append(appendGet(out, value), op.I64Const, 32, op.I64ShrU, op.I32WrapI64)
	}
	out := []byte{2, 1, typeI64, 1, typeI32}
	out = append(appendTag(out, source), op.I32Const, tagString, op.I32Ne)
	out = append(appendTag(out, source), op.I32Const, tagRope, op.I32Ne, op.I32And, op.If, op.BlockEmpty)
	out = append(appendCall(appendGets(out, context, target, source, excluded, setting), s.copying), op.Return, op.End)
	out = append(appendCall(appendGets(out, context, source), s.toObject), op.LocalSet, object)
	out = append(appendTag(out, object), op.I32Const, tagObject, op.I32Ne, op.If, op.BlockEmpty, op.I32Const, 0x7f, op.Return, op.End)
	out = append(appendCall(appendGets(out, context, target, object, excluded, setting), s.copying), op.LocalSet, result)
	return append(appendGet(appendCall(appendGets(out, context, object), s.free), result), op.End)
}
