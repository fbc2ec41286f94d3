package rewrite

import (
	"slices"

	"github.com/pages-toolchain/pages/runtime/wasmbinary"
	"github.com/pages-toolchain/pages/runtime/wasmbinary/op"
)

// This file writes the functions that put what an exception holds into it, and take it
// out again.

// isUnboxed reports whether an exception of a tag of type t is not boxed: it holds one
// value of 32 bits, or none.
func isUnboxed(t wasmbinary.FuncType) bool {
	return len(t.Params) == 0 || len(t.Params) == 1 && (t.Params[0] == wasmbinary.I32 || t.Params[0] == wasmbinary.F32)
}

// payloadKey returns the Key of what the host knows an exception to hold.
func payloadKey(t wasmbinary.FuncType) string { return wasmbinary.FuncType{Params: Payload(t)}.Key() }

// raiseFunction returns the function (…, tag) that raises what an exception of a type holds.
func (w *writer) raiseFunction(t wasmbinary.FuncType) uint32 {
	name := "raise " + t.Key()
	if i, known := w.helperOf[name]; known {
		return i
	}
	var body code
	tag := uint32(len(t.Params))
	if isUnboxed(t) {
		body.with(op.LocalGet, tag).with(op.GlobalSet, w.raised)
		if tag > 0 {
			body.with(op.LocalGet, 0)
			if t.Params[0] == wasmbinary.F32 {
				body.op(op.I32FromF32)
			}
			body.with(op.GlobalSet, w.value)
		}
	} else {
		body.with(op.LocalGet, tag)
		for i, p := range t.Params {
			body.with(op.LocalGet, uint32(i))
			if p == wasmbinary.V128 {
				body.with(op.SIMD, op.SIMDExtract).op(0).with(op.LocalGet, uint32(i)).with(op.SIMD, op.SIMDExtract).op(1)
			}
		}
		body.with(op.Call, w.boxOf[payloadKey(t)])
	}
	return w.add(name, wasmbinary.FuncType{Params: append(slices.Clone(t.Params), wasmbinary.I32)}, &body)
}

// unboxFunction returns the function (keep) that gives what an exception of a type holds.
func (w *writer) unboxFunction(t wasmbinary.FuncType) uint32 {
	name := "open " + t.Key()
	if i, known := w.helperOf[name]; known {
		return i
	}
	held := Payload(t)
	var body code
	if isUnboxed(t) {
		c := body.with(op.GlobalGet, w.raised).i32(0).op(op.I32LtS, op.If)
		if len(held) == 0 {
			c.op(op.BlockEmpty)
		} else {
			c.op(byte(held[0]))
		}
		c.with(op.LocalGet, 0).with(op.Call, w.boxOf[payloadKey(t)]+1)
		if len(held) > 0 {
			c.op(op.Else).with(op.GlobalGet, w.value)
			if held[0] == wasmbinary.F32 {
				c.op(op.F32FromI32)
			}
		}
		c.op(op.End)
	} else {
		body.with(op.LocalGet, 0).with(op.Call, w.boxOf[payloadKey(t)]+1)
	}
	body.i32(0).with(op.GlobalSet, w.raised)
	var locals []wasmbinary.ValType
	if slices.Contains(t.Params, wasmbinary.V128) {
		locals = held
		body.joinLanes(t.Params, held)
	}
	return w.addWith(name, wasmbinary.FuncType{Params: []wasmbinary.ValType{wasmbinary.I32}, Results: t.Params}, locals, &body)
}

// joinLanes makes vectors of their halves: values of the types held are on the stack,
// and locals of those types come after the first.
func (c *code) joinLanes(types, held []wasmbinary.ValType) {
	for i := len(held); i > 0; i-- {
		c.with(op.LocalSet, uint32(i))
	}
	at := uint32(1)
	for _, t := range types {
		c.with(op.LocalGet, at)
		if t == wasmbinary.V128 {
			at++
			c.with(op.SIMD, op.SIMDSplat).with(op.LocalGet, at).with(op.SIMD, op.SIMDReplace).op(1)
		}
		at++
	}
}

// discardFunction returns the function that ends the exception under way.
func (w *writer) discardFunction() uint32 {
	if i, known := w.helperOf[HostDiscard]; known {
		return i
	}
	var body code
	body.with(op.GlobalGet, w.raised).i32(0).op(op.I32LtS, op.If, op.BlockEmpty).with(op.Call, w.hosts+hostDiscard).op(op.End)
	body.i32(0).with(op.GlobalSet, w.raised)
	return w.add(HostDiscard, wasmbinary.FuncType{}, &body)
}
