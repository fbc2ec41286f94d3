package rewrite

import "slices"

// This file writes the functions that put what an exception holds into it, and take it
// out again.

// loose reports whether an exception of a tag of type t is not boxed: it holds one
// value of 32 bits, or none.
func loose(t FuncType) bool {
	return len(t.Params) == 0 || len(t.Params) == 1 && (t.Params[0] == I32 || t.Params[0] == F32)
}

// heldKey is the Key of what the host knows an exception to hold.
func heldKey(t FuncType) string { return FuncType{Params: Held(t)}.Key() }

// raiser is the function (…, tag) that raises what an exception of a type holds.
func (w *writer) raiser(t FuncType) uint32 {
	name := "raise " + t.Key()
	if i, known := w.helperOf[name]; known {
		return i
	}
	var body code
	tag := uint32(len(t.Params))
	if loose(t) {
		body.with(opLocalGet, tag).with(opGlobalSet, w.raised)
		if tag > 0 {
			body.with(opLocalGet, 0)
			if t.Params[0] == F32 {
				body.op(opI32FromF32)
			}
			body.with(opGlobalSet, w.value)
		}
	} else {
		body.with(opLocalGet, tag)
		for i, p := range t.Params {
			body.with(opLocalGet, uint32(i))
			if p == V128 {
				body.with(opSIMD, simdExtract).op(0).with(opLocalGet, uint32(i)).with(opSIMD, simdExtract).op(1)
			}
		}
		body.with(opCall, w.boxOf[heldKey(t)])
	}
	return w.add(name, FuncType{Params: append(slices.Clone(t.Params), I32)}, &body)
}

// opener is the function (keep) that gives what an exception of a type holds.
func (w *writer) opener(t FuncType) uint32 {
	name := "open " + t.Key()
	if i, known := w.helperOf[name]; known {
		return i
	}
	held := Held(t)
	var body code
	if loose(t) {
		c := body.with(opGlobalGet, w.raised).i32(0).op(opI32LtS, opIf)
		if len(held) == 0 {
			c.op(blockEmpty)
		} else {
			c.op(byte(held[0]))
		}
		c.with(opLocalGet, 0).with(opCall, w.boxOf[heldKey(t)]+1)
		if len(held) > 0 {
			c.op(opElse).with(opGlobalGet, w.value)
			if held[0] == F32 {
				c.op(opF32FromI32)
			}
		}
		c.op(opEnd)
	} else {
		body.with(opLocalGet, 0).with(opCall, w.boxOf[heldKey(t)]+1)
	}
	body.i32(0).with(opGlobalSet, w.raised)
	var locals []ValType
	if slices.Contains(t.Params, V128) {
		locals = held
		body.join(t.Params, held)
	}
	return w.addWith(name, FuncType{[]ValType{I32}, t.Params}, locals, &body)
}

// join makes vectors of their halves: values of the types held are on the stack,
// and locals of those types come after the first.
func (c *code) join(types, held []ValType) {
	for i := len(held); i > 0; i-- {
		c.with(opLocalSet, uint32(i))
	}
	at := uint32(1)
	for _, t := range types {
		c.with(opLocalGet, at)
		if t == V128 {
			at++
			c.with(opSIMD, simdSplat).with(opLocalGet, at).with(opSIMD, simdReplace).op(1)
		}
		at++
	}
}

// discarder is the function that ends the exception under way.
func (w *writer) discarder() uint32 {
	if i, known := w.helperOf[HostDiscard]; known {
		return i
	}
	var body code
	body.with(opGlobalGet, w.raised).i32(0).op(opI32LtS, opIf, blockEmpty).with(opCall, w.hosts+hostDiscard).op(opEnd)
	body.i32(0).with(opGlobalSet, w.raised)
	return w.add(HostDiscard, FuncType{}, &body)
}
