package rewrite

import (
	"errors"
	"slices"
	"strconv"

	"github.com/pages-toolchain/pages/runtime/wasmbinary"
	"github.com/pages-toolchain/pages/runtime/wasmbinary/op"
)

// writer writes the rewritten module. The host's functions come first, so every function of the original moves by shift; the
// host's globals come after the imported ones. Types, tables and segments keep their numbers: new ones come after them.
type writer struct {
	*wasmbinary.Module
	made      Module
	bases     []int // of each element segment, its position in the hidden table of its type
	types     []wasmbinary.FuncType
	typeOf    map[string]uint32 // of those added here, by Key
	callOf    map[string]uint32 // the host's function that calls imports, by Key
	shift     uint32
	fuel      uint32 // globals
	stack     uint32
	raised    uint32
	value     uint32
	hosts     uint32            // the first of the host's functions for exceptions
	boxOf     map[string]uint32 // HostBox by heldKey; HostOpen is the next
	legacy    bool              // there are instructions of the encoding before the standard's,
	standard  bool              // and of the standard's
	raising   []bool            // functions that may end with an exception
	blocks    map[int64]int64   // types of blocks made of others
	self      uint32
	dropped   []uint32                // segments that have a global, which is 1 when they are dropped
	refs      uint32                  // the hidden table of functions; that of externrefs is the next
	lists     [2][]wasmbinary.Element // their elements
	positions map[int]int
	funcs     list // types of the functions that are not the host's
	bodies    list
	helpers   list // bodies of functions that the module did not have
	helperOf  map[string]uint32
	exported  list
	branching int // the squares of the blocks and branches of the functions so far
}

// The host's functions, in their order in the index space.
const (
	hostInterrupt = iota
	hostOverflow
	hostAllow
	hostCalls
)

// The host's functions for exceptions, from writer.hosts on.
const (
	hostDiscard = iota
	hostKeep
	hostRef
	hostThrow
	hostRelease
	hostBoxes
)

// Rewrite reads module and returns its declarations and its rewritten form.
func Rewrite(module []byte) (*Module, error) { return rewrite(module, false) }

// Lower is Rewrite for a module that has no exceptions itself, and whose instances may call functions of others that raise
// them.
func Lower(module []byte) (*Module, error) { return rewrite(module, true) }

func rewrite(module []byte, throws bool) (*Module, error) {
	p, err := wasmbinary.Parse(module)
	if err != nil {
		return nil, err
	}
	w := &writer{
		Module: p, types: slices.Clip(p.Types), bases: make([]int, len(p.Segments)),
		made:   Module{Declarations: p.Declarations, Throws: throws || declaresExceptions(p), Shares: sharesFuncs(p)},
		typeOf: map[string]uint32{}, callOf: map[string]uint32{}, helperOf: map[string]uint32{},
		boxOf: map[string]uint32{}, blocks: map[int64]int64{},
	}
	w.assignIndices()
	if w.legacy && w.standard {
		return nil, errors.New("module uses a mix of legacy and new exception handling instructions")
	}
	if err := w.write(); err != nil {
		return nil, err
	}
	return &w.made, nil
}

// assignIndices gives all that is added its index.
func (w *writer) assignIndices() {
	w.collectReferences()
	for _, d := range w.ImportTypes {
		if d.Kind != wasmbinary.Func {
			continue
		}
		key := CallKey(w.Types[d.Type])
		if _, known := w.callOf[key]; !known {
			w.callOf[key] = uint32(hostCalls + len(w.callOf))
		}
	}
	w.shift = uint32(hostCalls + len(w.callOf))
	w.fuel = uint32(w.ImportedGlobals)
	w.stack, w.raised, w.value = w.fuel+1, w.fuel+2, w.fuel+3
	w.self = uint32(len(w.Globals)) + w.counters()
	w.refs = uint32(len(w.Tables))
	if !w.made.Throws {
		return
	}
	w.hosts = w.shift
	w.shift += hostBoxes
	for _, t := range w.Tags {
		if key := payloadKey(w.Types[t]); w.boxOf[key] == 0 {
			w.boxOf[key] = w.shift
			w.shift += 2
		}
	}
	w.findRaising()
}

// counters is the number of the host's globals.
func (w *writer) counters() uint32 {
	if w.made.Throws {
		return 4
	}
	return 2
}

// collectReferences puts the elements of all segments, and then the other functions that can be referred to, into the
// hidden tables.
func (w *writer) collectReferences() {
	listed := map[int]bool{}
	for i := range w.Segments {
		s := &w.Segments[i]
		l := &w.lists[0]
		if s.Elem != wasmbinary.Funcref {
			l = &w.lists[1]
		}
		w.bases[i] = len(*l)
		*l = append(*l, s.Items...)
		for _, x := range s.Items {
			listed[x.Fn] = true
		}
		if s.Mode == wasmbinary.Active && s.Elem == wasmbinary.Funcref {
			w.made.Elems = append(w.made.Elems, Elem{
				Table: s.Table, Offset: s.Offset.Constant(), Global: s.Offset.Global(), Base: w.bases[i],
				Length: len(s.Items),
			})
		}
	}
	add := func(fn int) {
		if fn != wasmbinary.NoRef && !listed[fn] {
			listed[fn] = true
			w.lists[0] = append(w.lists[0], wasmbinary.Element{Fn: fn})
		}
	}
	for _, e := range w.Exports {
		if e.Kind == wasmbinary.Func {
			add(int(e.Index))
		}
	}
	for _, g := range w.OwnGlobals {
		add(g.Ref)
	}
	add(w.Start)
	for i, body := range w.Bodies {
		w.addReferred(body, w.Types[w.OwnFuncs[i]], add)
	}
	for _, x := range w.lists[0] {
		w.made.Refs = append(w.made.Refs, x.Fn)
	}
}

// typeIndex is the index of t, which is added if it is new.
func (w *writer) typeIndex(t wasmbinary.FuncType) uint32 {
	key := t.Key()
	i, known := w.typeOf[key]
	if !known {
		i = uint32(len(w.types))
		w.types = append(w.types, t)
		w.typeOf[key] = i
	}
	return i
}

func (w *writer) write() error {
	w.trampolines()
	for _, t := range w.OwnFuncs {
		w.funcs.next().u32(t)
	}
	for i, body := range w.Bodies {
		out, err := w.function(body, w.Types[w.OwnFuncs[i]])
		if err != nil {
			return err
		}
		w.bodies.next().sized(out)
	}
	w.exportAll()
	w.bodies.n += w.helpers.n
	w.bodies.body.op(w.helpers.body...)

	// Types are written last: all others may add to them.
	imports := w.importList()
	out := start()
	var types list
	for _, t := range w.types {
		types.next().op(0x60).types(t.Params).types(t.Results)
	}
	out.section(wasmbinary.SectionType, types)
	out.section(wasmbinary.SectionImport, imports)
	out.section(wasmbinary.SectionFunction, w.funcs)
	var tables list
	for _, t := range w.Tables[w.ImportedTables:] {
		tables.next().op(wireType(t.Elem)).limits(t.Limits)
	}
	for i, elem := range []wasmbinary.ValType{wasmbinary.Funcref, wasmbinary.Externref} { // the hidden ones
		n := uint32(len(w.lists[i]))
		tables.next().op(byte(elem)).limits(wasmbinary.Limits{Min: n, Max: n, HasMax: true})
	}
	out.section(wasmbinary.SectionTable, tables)
	if w.Memory != nil && !w.ImportsMemory {
		var memory list
		memory.next().limits(unshared(*w.Memory))
		out.section(wasmbinary.SectionMemory, memory)
	}
	out.section(wasmbinary.SectionGlobal, w.globalList())
	out.section(wasmbinary.SectionExport, w.exported)
	out.section(wasmbinary.SectionElement, w.elemList())
	if len(w.Data) > 0 {
		var count code
		out.op(wasmbinary.SectionDataCount).sized(*count.u32(uint32(len(w.Data))))
	}
	out.section(wasmbinary.SectionCode, w.bodies)
	var data list // all of it passive
	for _, d := range w.Data {
		data.next().op(1).sized(d.Bytes)
	}
	out.section(wasmbinary.SectionData, data)
	w.made.Bytes = *out
	return nil
}

func (w *writer) importList() (l list) {
	hosted := func(module, name string, t wasmbinary.FuncType) {
		l.next().name(module).name(name).op(byte(wasmbinary.Func)).u32(w.typeIndex(t))
	}
	one := []wasmbinary.ValType{wasmbinary.I32}
	hosted(Host, HostInterrupt, wasmbinary.FuncType{})
	hosted(Host, HostOverflow, wasmbinary.FuncType{})
	hosted(Host, HostAllow, wasmbinary.FuncType{Params: one, Results: one})
	done := map[string]bool{}
	for _, d := range w.ImportTypes {
		if d.Kind != wasmbinary.Func {
			continue
		}
		if key := CallKey(w.Types[d.Type]); !done[key] {
			done[key] = true
			hosted(PrefixCall+key, HostCall, CallType(w.Types[d.Type]))
		}
	}
	w.importThrows(hosted)
	for i, d := range w.ImportTypes {
		if d.Kind == wasmbinary.Func || d.Kind == wasmbinary.Tag {
			continue
		}
		c := l.next().name(strconv.Itoa(i)).name(importName(d.Kind)).op(byte(d.Kind))
		switch d.Kind {
		case wasmbinary.Table:
			c.op(wireType(d.Table.Elem)).limits(d.Table.Limits)
		case wasmbinary.Memory:
			c.limits(unshared(d.Memory))
		case wasmbinary.Global:
			c.op(wireType(d.Global.Type), bit(d.Global.Mutable))
		default:
		}
	}
	for _, name := range []string{HostFuel, HostStack, HostRaised, HostValue}[:w.counters()] {
		l.next().name(Counters).name(name).op(byte(wasmbinary.Global), byte(wasmbinary.I32), 1)
	}
	return l
}

// importThrows imports the host's functions for exceptions, in their order.
func (w *writer) importThrows(hosted func(module, name string, t wasmbinary.FuncType)) {
	if !w.made.Throws {
		return
	}
	one, ref := []wasmbinary.ValType{wasmbinary.I32}, []wasmbinary.ValType{wasmbinary.Externref}
	two := []wasmbinary.ValType{wasmbinary.I32, wasmbinary.I32}
	hosted(Host, HostDiscard, wasmbinary.FuncType{})
	hosted(Host, HostKeep, wasmbinary.FuncType{})
	hosted(Host, HostRef, wasmbinary.FuncType{Params: two, Results: ref})
	hosted(Host, HostThrow, wasmbinary.FuncType{Params: ref})
	hosted(Host, HostRelease, wasmbinary.FuncType{Params: two})
	done := map[string]bool{}
	for _, t := range w.Tags {
		key, held := payloadKey(w.Types[t]), Payload(w.Types[t])
		if !done[key] {
			done[key] = true
			hosted(PrefixTag+key, HostBox, wasmbinary.FuncType{Params: append(slices.Clip(one), held...)})
			hosted(PrefixTag+key, HostOpen, wasmbinary.FuncType{Params: one, Results: held})
		}
	}
}

func bit(b bool) byte {
	if b {
		return 1
	}
	return 0
}

func (w *writer) globalList() (l list) {
	for _, g := range w.OwnGlobals {
		c := l.next().op(wireType(g.Type), bit(g.Mutable))
		w.constant(c, g.Init)
		c.op(op.End)
	}
	for range 1 + len(w.Tags) { // self, and the numbers of the tags
		l.next().op(byte(wasmbinary.I32), 1).i32(0).op(op.End)
	}
	for _, i := range w.dropped {
		l.next().op(byte(wasmbinary.I32), 1).i32(int32(bit(w.Segments[i].Mode != wasmbinary.Passive))).op(op.End)
	}
	return l
}

// constant writes e with the indices of the rewritten module.
func (w *writer) constant(c *code, e wasmbinary.Expression) {
	for _, in := range e {
		switch in.Op {
		case op.GlobalGet:
			c.with(op.GlobalGet, w.global(in.Index))
		case op.RefFunc:
			c.with(op.RefFunc, in.Index+w.shift)
		case op.RefNull:
			c.op(op.RefNull, wireType(wasmbinary.ValType(in.Raw[1])))
		default:
			c.op(in.Raw...)
		}
	}
}

// global is the index of a global of the original.
func (w *writer) global(i uint32) uint32 {
	if i < w.fuel {
		return i
	}
	return i + w.counters()
}

// elemList fills the hidden tables.
func (w *writer) elemList() (l list) {
	const withTableAndExprs = 6
	for i, elem := range []wasmbinary.ValType{wasmbinary.Funcref, wasmbinary.Externref} {
		if len(w.lists[i]) == 0 {
			continue
		}
		c := l.next().with(withTableAndExprs, w.refs+uint32(i)).i32(0).op(op.End, byte(elem)).u32(uint32(len(w.lists[i])))
		for _, x := range w.lists[i] {
			if x.Init == nil {
				c.with(op.RefFunc, uint32(x.Fn)+w.shift)
			} else {
				w.constant(c, x.Init)
			}
			c.op(op.End)
		}
	}
	return l
}
