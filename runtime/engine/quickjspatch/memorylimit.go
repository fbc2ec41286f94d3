package quickjspatch

import (
	"bytes"
	"errors"

	"github.com/pages-toolchain/pages/runtime/wasmbinary/op"
)

const (
	// FullGlobal is a mutable i32: 1 after an allocation met the limit of memory. The module then calls host_interrupt at
	// once; the host resets it to 0.
	FullGlobal = "pages_full"
	// RefusedGlobal is a mutable i32: 1 once memory was refused, with an exception or, where a buffer could not grow, without.
	// The host resets it. The parser may continue after either, misread code that it could not store, and throw a SyntaxError.
	RefusedGlobal = "pages_refused"
	// MallocSize is the offset in a JSRuntime of the number of allocated bytes, an i32.
	MallocSize = 24
	// CollectorThreshold is the offset of the number of bytes that starts a garbage collection, and mallocLimit that of the limit.
	CollectorThreshold, mallocLimit = 624, 28
	// LeastStep is the least number of bytes between two collections: otherwise, near the limit, every allocation would cause one.
	LeastStep = 1 << 20
)

// memoryLimit makes a collection precede the limit of memory, and reports the limit to the host.
//
// After a collection QuickJS sets the size at which it collects again to one and a half of the rest: beyond the limit
// where more than two thirds are in use, so that an allocation failed with a heap full of garbage. Here the next collection
// comes after half of the rest at most.
//
// JS_ThrowOutOfMemory (context) -> exception throws an error that JavaScript can catch. Its calls go to a new function that
// first reports to the host.
type memoryLimit struct {
	full, refused          uint32 // indices of FullGlobal and RefusedGlobal
	interrupt              uint32
	collect, throw         uint32 // JS_RunGC (runtime), JS_ThrowOutOfMemory
	collectType, throwType uint32
	growing                int // dbuf_claim, of the module's own functions
}

func (l layout) memoryLimit() (m memoryLimit, err error) {
	var hasCollect, hasThrow bool
	m.collect, hasCollect = l.exports["JS_RunGC"]
	m.throw, hasThrow = l.exports["JS_ThrowOutOfMemory"]
	if !hasCollect || !hasThrow {
		return m, errors.New("the module lacks JS_RunGC or JS_ThrowOutOfMemory")
	}
	m.collectType, m.throwType, m.interrupt = l.typeOf(m.collect), l.typeOf(m.throw), uint32(l.imports.interrupt)
	if _, err := l.uniqueFunction(shapedObjectType, m.trigger(), 1); err != nil {
		return m, err
	}
	m.growing, err = l.uniqueFunction(growType, growFailed, 1)
	return m, err
}

// growType is the type of dbuf_claim (buffer, bytes) -> int, and growFailed its code for a buffer that cannot grow: it notes that in the
// buffer and returns -1.
const growType = "\x60\x02\x7f\x7f\x01\x7f"

var growFailed = []byte{op.LocalGet, 0, op.I32Const, 1, op.I32Store8, 0, 12, op.I32Const, 0x7f, op.Return}

// noteRefused returns the code of dbuf_claim with a note in RefusedGlobal as well.
func (m memoryLimit) noteRefused(i int, code []byte) []byte {
	if i != m.growing {
		return code
	}
	note := op.AppendU32([]byte{op.I32Const, 1, op.GlobalSet}, m.refused)
	return bytes.Replace(code, growFailed, append(note, growFailed...), 1)
}

// shapedObjectType is the type of JS_NewObjectFromShape, as encoded.
const shapedObjectType = "\x60\x04\x7f\x7f\x7f\x7f\x01\x7e"

// trigger is the code of JS_NewObjectFromShape over the threshold, with the runtime in local 4.
func (m memoryLimit) trigger() []byte {
	out := appendCall([]byte{op.LocalGet, 4}, m.collect)
	out = append(out, op.LocalGet, 4, op.LocalGet, 4, op.I32Load, 2, MallocSize, op.LocalTee, 4, op.I32Const, 1, op.I32ShrU,
		op.LocalGet, 4, op.I32Add)
	return op.AppendU32(append(out, op.I32Store, 2), CollectorThreshold)
}

// correction replaces it by a call of collectBody.
func (m memoryLimit) correction(collect uint32) correction {
	return correction{shapedObjectType, []replacement{{m.trigger(), appendCall([]byte{op.LocalGet, 4}, collect)}}}
}

// collectBody is
//
//	JS_RunGC(runtime)
//	size = runtime.size
//	step = max((runtime.limit - size) / 2, LeastStep)    without sign: huge where the limit was lowered below the size
//	runtime.threshold = size + min(size / 2, step)
func (m memoryLimit) collectBody() []byte {
	const runtime, size, step, half = 0, 1, 2, 3
	least := op.AppendS32([]byte{op.I32Const}, LeastStep)
	out := []byte{1, 3, typeI32}
	out = appendCall(appendGet(out, runtime), m.collect)
	out = append(appendGet(out, runtime), op.I32Load, 2, MallocSize, op.LocalSet, size)
	out = append(appendGet(out, runtime), op.I32Load, 2, mallocLimit, op.LocalGet, size, op.I32Sub,
		op.I32Const, 1, op.I32ShrU, op.LocalSet, step)
	out = append(append(appendGet(out, step), least...), op.LocalGet, step)
	out = append(append(out, least...), op.I32GtU, op.Select, op.LocalSet, step)
	out = append(appendGet(out, size), op.I32Const, 1, op.I32ShrU, op.LocalSet, half)
	out = append(appendGets(out, runtime, size, step, half, step, half), op.I32LtU, op.Select, op.I32Add)
	return append(op.AppendU32(append(out, op.I32Store, 2), CollectorThreshold), op.End)
}

// throwBody is
//
//	refused = 1
//	if full == 0 { full = 1; host_interrupt() }
//	return JS_ThrowOutOfMemory(context)
func (m memoryLimit) throwBody() []byte {
	out := op.AppendU32([]byte{0, op.I32Const, 1, op.GlobalSet}, m.refused)
	out = op.AppendU32(append(out, op.GlobalGet), m.full)
	out = append(out, op.I32Eqz, op.If, op.BlockEmpty, op.I32Const, 1, op.GlobalSet)
	out = append(appendCall(op.AppendU32(out, m.full), m.interrupt), op.Drop, op.End)
	return append(appendCall(appendGet(out, 0), m.throw), op.End)
}
