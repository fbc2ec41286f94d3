package rewrite

import (
	"slices"
	"strconv"
)

// This file writes the functions and exports that the original does not have.

// trampolines stand in the place of imported functions: each calls the host's
// function for its signature.
func (w *writer) trampolines() {
	for _, d := range w.imports {
		if d.Kind != Func {
			continue
		}
		t := w.Types[d.typ]
		key := t.CallKey()
		var body code
		body.u32(0).with(opGlobalGet, w.self).i32(int32(d.Index))
		if key != NoCall {
			body.locals(len(t.Params))
		}
		body.with(opCall, w.callOf[key])
		if key == NoCall {
			body.op(opUnreachable)
		}
		w.funcs.next().u32(d.typ)
		w.bodies.next().sized(*body.op(opEnd))
	}
}

// locals pushes the first n locals.
func (c *code) locals(n int) *code {
	for i := range n {
		c.with(opLocalGet, uint32(i))
	}
	return c
}

// add adds a function, whose body has no locals but its parameters, under a name
// of its own, and returns its index.
func (w *writer) add(name string, t FuncType, body *code) uint32 {
	return w.addWith(name, t, nil, body)
}

// addWith is add for a body with locals of its own.
func (w *writer) addWith(name string, t FuncType, locals []ValType, body *code) uint32 {
	i := w.shift + uint32(len(w.Funcs)) + w.helpers.n
	w.helperOf[name] = i
	w.funcs.next().u32(w.typeIndex(t))
	var whole code
	whole.u32(uint32(len(locals)))
	for _, l := range locals {
		whole.u32(1).op(wire(l))
	}
	w.helpers.next().sized(*whole.op(*body...).op(opEnd))
	return i
}

// helper is the function that does to a table what its name begins with.
func (w *writer) helper(prefix string, table uint32) uint32 {
	name := prefix + strconv.Itoa(int(table))
	if i, known := w.helperOf[name]; known {
		return i
	}
	elem := w.Tables[table].Elem
	var t FuncType
	var body code
	switch prefix {
	case PrefixGet:
		t = FuncType{[]ValType{I32}, []ValType{elem}}
		body.locals(1).with(opTableGet, table)
	case PrefixSet:
		t = FuncType{[]ValType{I32, elem}, nil}
		body.locals(2).with(opTableSet, table)
	case PrefixSize:
		t = FuncType{nil, []ValType{I32}}
		body.misc(miscTableSize, table)
	case PrefixGrow:
		t = FuncType{[]ValType{elem, I32}, []ValType{I32}}
		body.growTable(table)
	}
	return w.add(name, t, &body)
}

// growTable asks the host before it grows a table, and tells it if that failed.
func (c *code) growTable(table uint32) {
	const n = 1 // local
	c.with(opLocalGet, n).with(opCall, hostAllow).op(opI32Eqz, opIf, blockEmpty).i32(-1).op(opReturn, opEnd)
	c.locals(2).misc(miscTableGrow, table).with(opLocalTee, n).i32(-1).op(opI32Eq, opIf, blockEmpty)
	c.i32(0).with(opCall, hostAllow).op(opDrop, opEnd).with(opLocalGet, n)
}

// tableInit is the function (to, from, n) that copies a segment's elements. The
// hidden table holds those of all segments, so it looks at the bounds itself.
func (w *writer) tableInit(segment, table uint32) uint32 {
	name := "init" + strconv.Itoa(int(segment)) + " " + strconv.Itoa(int(table))
	if i, known := w.helperOf[name]; known {
		return i
	}
	s := w.segments[segment]
	const to, from, n = 0, 1, 2
	var body code
	body.with(opLocalGet, from).op(opI64ExtendU).with(opLocalGet, n).op(opI64ExtendU, opI64Add)
	body.with(opGlobalGet, w.droppedFlag(segment)).op(opIf, byte(I64), opI64Const).s64(0)
	body.op(opElse, opI64Const).s64(int64(len(s.items))).op(opEnd, opI64GtU, opIf, blockEmpty)
	body.i32(-1).i32(0).i32(1).misc(miscTableCopy, table, w.hidden(s.elem)).op(opEnd) // out of bounds
	body.with(opLocalGet, to).with(opLocalGet, from).i32(int32(s.base)).op(opI32Add).with(opLocalGet, n)
	body.misc(miscTableCopy, table, w.hidden(s.elem))
	return w.add(name, FuncType{Params: []ValType{I32, I32, I32}}, &body)
}

// hidden is the hidden table of elements of a type.
func (w *writer) hidden(elem ValType) uint32 {
	if elem != Funcref {
		return w.refs + 1
	}
	return w.refs
}

// droppedFlag is the global that says whether a segment is dropped.
func (w *writer) droppedFlag(segment uint32) uint32 {
	at := slices.Index(w.dropped, segment)
	if at < 0 {
		at = len(w.dropped)
		w.dropped = append(w.dropped, segment)
	}
	return w.self + 1 + uint32(len(w.Tags)+at)
}

func (w *writer) exportAll() {
	export := func(name string, kind Kind, index uint32) { w.exported.next().name(name).op(byte(kind)).u32(index) }
	number := func(prefix string, i int) string { return prefix + strconv.Itoa(i) }
	if w.Memory != nil {
		export(ExportMemory, Memory, 0)
	}
	for i := range w.Tables {
		export(number(PrefixTable, i), Table, uint32(i))
		for _, prefix := range []string{PrefixGet, PrefixSet, PrefixSize, PrefixGrow} {
			export(number(prefix, i), Func, w.helper(prefix, uint32(i)))
		}
	}
	for i, g := range w.Globals {
		export(number(PrefixGlobal, i), Global, w.global(uint32(i)))
		if g.Type == V128 {
			w.exportLanes(export, i, g.Mutable)
		}
	}
	seen := map[int]bool{NoRef: true}
	for _, fn := range w.Refs {
		if !seen[fn] {
			seen[fn] = true
			export(number(PrefixFunc, fn), Func, uint32(fn)+w.shift)
		}
	}
	export(ExportSelf, Global, w.self)
	for i := range w.Tags {
		export(number(PrefixKind, i), Global, w.tag(uint32(i)))
	}
	for i := range w.dropped {
		export(number(ExportDropped, i), Global, w.tag(uint32(len(w.Tags)+i)))
	}
	w.Dropped = len(w.dropped)
	export(FnElems, Func, w.add(FnElems, FuncType{}, w.runElems()))
	export(FnData, Func, w.add(FnData, FuncType{}, w.runData()))
	export(FnDrop, Func, w.add(FnDrop, FuncType{}, w.dropData()))
	var ref code
	ref.locals(1).with(opTableGet, w.refs)
	export(FnRef, Func, w.add(FnRef, FuncType{[]ValType{I32}, []ValType{Funcref}}, &ref))
}

// exportLanes gives the host a v128 as two halves.
func (w *writer) exportLanes(export func(string, Kind, uint32), i int, mutable bool) {
	at := w.global(uint32(i))
	var get code
	for lane := range byte(2) {
		get.with(opGlobalGet, at).with(opSIMD, simdExtract).op(lane)
	}
	name := PrefixLane + strconv.Itoa(i)
	export(name, Func, w.add(name, FuncType{nil, []ValType{I64, I64}}, &get))
	if !mutable {
		return
	}
	var put code
	put.with(opLocalGet, 0).with(opSIMD, simdSplat).with(opLocalGet, 1).with(opSIMD, simdReplace).op(1).with(opGlobalSet, at)
	name = PrefixPut + strconv.Itoa(i)
	export(name, Func, w.add(name, FuncType{[]ValType{I64, I64}, nil}, &put))
}

func (w *writer) runElems() *code {
	var c code
	for _, s := range w.segments {
		if s.mode != active {
			continue
		}
		w.constant(&c, s.offset)
		c.i32(int32(s.base)).i32(int32(len(s.items))).misc(miscTableCopy, s.table, w.hidden(s.elem))
	}
	return &c
}

func (w *writer) runData() *code {
	var c code
	for i, d := range w.data {
		if !d.active {
			continue
		}
		w.constant(&c, d.offset)
		c.i32(0).i32(int32(len(d.bytes))).misc(miscMemoryInit, uint32(i), 0).misc(miscDataDrop, uint32(i))
	}
	return &c
}

func (w *writer) dropData() *code {
	var c code
	for i, d := range w.data {
		if d.active {
			c.misc(miscDataDrop, uint32(i))
		}
	}
	return &c
}
