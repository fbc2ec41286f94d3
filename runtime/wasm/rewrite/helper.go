package rewrite

import (
	"slices"
	"strconv"

	"github.com/pages-toolchain/pages/runtime/wasmbinary"
	"github.com/pages-toolchain/pages/runtime/wasmbinary/op"
)

// This file writes the functions and exports that the original does not have.

// trampolines writes the functions instead of imported ones: each calls the host's function for its signature.
func (w *writer) trampolines() {
	for _, d := range w.ImportTypes {
		if d.Kind != wasmbinary.Func {
			continue
		}
		t := w.Types[d.Type]
		key := CallKey(t)
		var body code
		body.u32(0).with(op.GlobalGet, w.self).i32(int32(d.Index))
		if key != NoCall {
			body.locals(len(t.Params))
		}
		body.with(op.Call, w.callOf[key])
		if key == NoCall {
			body.op(op.Unreachable)
		}
		w.funcs.next().u32(d.Type)
		w.bodies.next().sized(*body.op(op.End))
	}
}

// locals pushes the first n locals.
func (c *code) locals(n int) *code {
	for i := range n {
		c.with(op.LocalGet, uint32(i))
	}
	return c
}

// add adds a function, whose body has no locals but its parameters, under a name of its own, and returns its index.
func (w *writer) add(name string, t wasmbinary.FuncType, body *code) uint32 {
	return w.addWith(name, t, nil, body)
}

// addWith is add for a body with locals of its own.
func (w *writer) addWith(name string, t wasmbinary.FuncType, locals []wasmbinary.ValType, body *code) uint32 {
	i := w.shift + uint32(len(w.Funcs)) + w.helpers.n
	w.helperOf[name] = i
	w.funcs.next().u32(w.typeIndex(t))
	var whole code
	whole.u32(uint32(len(locals)))
	for _, l := range locals {
		whole.u32(1).op(wireType(l))
	}
	w.helpers.next().sized(*whole.op(*body...).op(op.End))
	return i
}

// helper returns the function for an operation on a table: a Prefix constant.
func (w *writer) helper(prefix string, table uint32) uint32 {
	name := prefix + strconv.Itoa(int(table))
	if i, known := w.helperOf[name]; known {
		return i
	}
	elem := w.Tables[table].Elem
	var t wasmbinary.FuncType
	var body code
	switch prefix {
	case PrefixGet:
		t = wasmbinary.FuncType{Params: []wasmbinary.ValType{wasmbinary.I32}, Results: []wasmbinary.ValType{elem}}
		body.locals(1).with(op.TableGet, table)
	case PrefixSet:
		t = wasmbinary.FuncType{Params: []wasmbinary.ValType{wasmbinary.I32, elem}}
		body.locals(2).with(op.TableSet, table)
	case PrefixSize:
		t = wasmbinary.FuncType{Results: []wasmbinary.ValType{wasmbinary.I32}}
		body.misc(op.MiscTableSize, table)
	case PrefixGrow:
		t = wasmbinary.FuncType{Params: []wasmbinary.ValType{elem, wasmbinary.I32}, Results: []wasmbinary.ValType{wasmbinary.I32}}
		const n = 1 // local
		body.with(op.LocalGet, n).with(op.Call, hostAllow).op(op.I32Eqz, op.If, op.BlockEmpty).i32(-1).op(op.Return, op.End)
		body.locals(2).misc(op.MiscTableGrow, table).with(op.LocalTee, n).i32(-1).op(op.I32Eq, op.If, op.BlockEmpty)
		body.i32(0).with(op.Call, hostAllow).op(op.Drop, op.End).with(op.LocalGet, n)
	}
	return w.add(name, t, &body)
}

// tableInit returns the function (to, from, n) that copies a segment's elements. The hidden table holds those of all
// segments, so the function checks the bounds itself.
func (w *writer) tableInit(segment, table uint32) uint32 {
	name := "init" + strconv.Itoa(int(segment)) + " " + strconv.Itoa(int(table))
	if i, known := w.helperOf[name]; known {
		return i
	}
	s := w.Segments[segment]
	const to, from, n = 0, 1, 2
	var body code
	body.with(op.LocalGet, from).op(op.I64ExtendU).with(op.LocalGet, n).op(op.I64ExtendU, op.I64Add)
	body.with(op.GlobalGet, w.droppedFlag(segment)).op(op.If, byte(wasmbinary.I64), op.I64Const).s64(0)
	body.op(op.Else, op.I64Const).s64(int64(len(s.Items))).op(op.End, op.I64GtU, op.If, op.BlockEmpty)
	body.i32(-1).i32(0).i32(1).misc(op.MiscTableCopy, table, w.hiddenTable(s.Elem)).op(op.End) // out of bounds
	body.with(op.LocalGet, to).with(op.LocalGet, from).i32(int32(w.bases[segment])).op(op.I32Add).with(op.LocalGet, n)
	body.misc(op.MiscTableCopy, table, w.hiddenTable(s.Elem))
	return w.add(name, wasmbinary.FuncType{Params: []wasmbinary.ValType{wasmbinary.I32, wasmbinary.I32, wasmbinary.I32}}, &body)
}

// hiddenTable returns the hidden table of elements of a type.
func (w *writer) hiddenTable(elem wasmbinary.ValType) uint32 {
	if elem != wasmbinary.Funcref {
		return w.refs + 1
	}
	return w.refs
}

// droppedFlag returns the global that is 1 when a segment is dropped.
func (w *writer) droppedFlag(segment uint32) uint32 {
	at := slices.Index(w.dropped, segment)
	if at < 0 {
		at = len(w.dropped)
		w.dropped = append(w.dropped, segment)
	}
	return w.self + 1 + uint32(len(w.Tags)+at)
}

func (w *writer) exportAll() {
	export := func(name string, kind wasmbinary.Kind, index uint32) {
		w.exported.next().name(name).op(byte(kind)).u32(index)
	}
	number := func(prefix string, i int) string { return prefix + strconv.Itoa(i) }
	if w.Memory != nil {
		export(ExportMemory, wasmbinary.Memory, 0)
	}
	for i := range w.Tables {
		export(number(PrefixTable, i), wasmbinary.Table, uint32(i))
		for _, prefix := range []string{PrefixGet, PrefixSet, PrefixSize, PrefixGrow} {
			export(number(prefix, i), wasmbinary.Func, w.helper(prefix, uint32(i)))
		}
	}
	for i, g := range w.Globals {
		export(number(PrefixGlobal, i), wasmbinary.Global, w.global(uint32(i)))
		if g.Type == wasmbinary.V128 {
			w.exportLanes(export, i, g.Mutable)
		}
	}
	seen := map[int]bool{wasmbinary.NoRef: true}
	for _, fn := range w.made.Refs {
		if !seen[fn] {
			seen[fn] = true
			export(number(PrefixFunc, fn), wasmbinary.Func, uint32(fn)+w.shift)
		}
	}
	export(ExportSelf, wasmbinary.Global, w.self)
	for i := range w.Tags {
		export(number(PrefixKind, i), wasmbinary.Global, w.tag(uint32(i)))
	}
	for i := range w.dropped {
		export(number(ExportDropped, i), wasmbinary.Global, w.tag(uint32(len(w.Tags)+i)))
	}
	w.made.Dropped = len(w.dropped)
	function := func(name string, t wasmbinary.FuncType, body *code) {
		export(name, wasmbinary.Func, w.add(name, t, body))
	}
	var elems, data, drop, ref code
	for i, s := range w.Segments {
		if s.Mode == wasmbinary.Active {
			w.constant(&elems, s.Offset)
			elems.i32(int32(w.bases[i])).i32(int32(len(s.Items))).misc(op.MiscTableCopy, s.Table, w.hiddenTable(s.Elem))
		}
	}
	for i, d := range w.Data {
		if d.Active {
			w.constant(&data, d.Offset)
			data.i32(0).i32(int32(len(d.Bytes))).misc(op.MiscMemoryInit, uint32(i), 0).misc(op.MiscDataDrop, uint32(i))
			drop.misc(op.MiscDataDrop, uint32(i))
		}
	}
	ref.locals(1).with(op.TableGet, w.refs)
	function(FnElems, wasmbinary.FuncType{}, &elems)
	function(FnData, wasmbinary.FuncType{}, &data)
	function(FnDrop, wasmbinary.FuncType{}, &drop)
	function(FnRef, wasmbinary.FuncType{
		Params: []wasmbinary.ValType{wasmbinary.I32}, Results: []wasmbinary.ValType{wasmbinary.Funcref},
	}, &ref)
}

// exportLanes exports a v128 as two halves.
func (w *writer) exportLanes(export func(string, wasmbinary.Kind, uint32), i int, mutable bool) {
	at := w.global(uint32(i))
	var get code
	for lane := range byte(2) {
		get.with(op.GlobalGet, at).with(op.SIMD, op.SIMDExtract).op(lane)
	}
	name := PrefixLane + strconv.Itoa(i)
	export(name, wasmbinary.Func, w.add(name, wasmbinary.FuncType{Results: []wasmbinary.ValType{wasmbinary.I64, wasmbinary.I64}}, &get))
	if !mutable {
		return
	}
	var put code
	put.with(op.LocalGet, 0).with(op.SIMD, op.SIMDSplat).with(op.LocalGet, 1).with(op.SIMD, op.SIMDReplace).op(1).with(op.GlobalSet, at)
	name = PrefixPut + strconv.Itoa(i)
	export(name, wasmbinary.Func, w.add(name, wasmbinary.FuncType{Params: []wasmbinary.ValType{wasmbinary.I64, wasmbinary.I64}}, &put))
}

// isUnboxed reports whether an exception of a tag of type t is not boxed: it holds one value of 32 bits, or none.
func isUnboxed(t wasmbinary.FuncType) bool {
	return len(t.Params) == 0 || len(t.Params) == 1 && (t.Params[0] == wasmbinary.I32 || t.Params[0] == wasmbinary.F32)
}

// payloadKey returns the Key of Payload.
func payloadKey(t wasmbinary.FuncType) string { return wasmbinary.FuncType{Params: Payload(t)}.Key() }

// raiseFunction returns the function (…, tag) that raises an exception of a type.
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

// unboxFunction returns the function (keep) that ends the current exception, of a type, and returns its payload.
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

// joinLanes makes vectors of their halves: values of the types held are on the stack, and locals of those types come after
// the first.
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

// discardFunction returns the function that ends the current exception.
func (w *writer) discardFunction() uint32 {
	if i, known := w.helperOf[HostDiscard]; known {
		return i
	}
	var body code
	body.with(op.GlobalGet, w.raised).i32(0).op(op.I32LtS, op.If, op.BlockEmpty).with(op.Call, w.hosts+hostDiscard).op(op.End)
	body.i32(0).with(op.GlobalSet, w.raised)
	return w.add(HostDiscard, wasmbinary.FuncType{}, &body)
}
