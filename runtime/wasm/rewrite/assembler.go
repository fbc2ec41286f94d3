package rewrite

import (
	"encoding/binary"
	"slices"
	"strconv"

	"github.com/pages-toolchain/pages/runtime/wasmbinary"
	"github.com/pages-toolchain/pages/runtime/wasmbinary/op"
)

// code is a part of a module being written.
type code []byte

func (c *code) op(bytes ...byte) *code {
	*c = append(*c, bytes...)
	return c
}

func (c *code) u32(v uint32) *code {
	*c = op.AppendU32(*c, v)
	return c
}

func (c *code) s64(v int64) *code {
	*c = op.AppendS64(*c, v)
	return c
}

// with is an instruction with indices.
func (c *code) with(opcode byte, indices ...uint32) *code {
	c.op(opcode)
	for _, i := range indices {
		c.u32(i)
	}
	return c
}

// misc is an instruction of the 0xfc family.
func (c *code) misc(sub uint32, indices ...uint32) *code {
	return c.with(op.Misc, append([]uint32{sub}, indices...)...)
}

func (c *code) i32(v int32) *code { return c.op(op.I32Const).s64(int64(v)) }

func (c *code) name(s string) *code {
	c.u32(uint32(len(s)))
	return c.op([]byte(s)...)
}

func (c *code) types(list []wasmbinary.ValType) *code {
	c.u32(uint32(len(list)))
	for _, t := range list {
		c.op(wireType(t))
	}
	return c
}

func (c *code) limits(l wasmbinary.Limits) {
	if !l.HasMax {
		c.op(0).u32(l.Min)
		return
	}
	c.op(1 | bit(l.Shared)<<1).u32(l.Min).u32(l.Max)
}

// unshared is the type of a memory in the rewritten module: a Worker has one thread, for which a shared one is as any other.
func unshared(l wasmbinary.Limits) wasmbinary.Limits {
	l.Shared = false
	return l
}

// sized is a body after its length.
func (c *code) sized(body code) {
	c.u32(uint32(len(body))).op(body...)
}

// list is a vector of things that are written already.
type list struct {
	n    uint32
	body code
}

// next is the offset of the next item.
func (l *list) next() *code {
	l.n++
	return &l.body
}

// section writes l as the section id, unless it is empty.
func (c *code) section(id byte, l list) {
	if l.n == 0 {
		return
	}
	var body code
	body.u32(l.n).op(l.body...)
	c.op(id).sized(body)
}

// This file makes the modules of memories, tables, globals and tags that JavaScript makes, and adapters.

// MemoryModule defines a memory and exports it.
func MemoryModule(l wasmbinary.Limits) []byte {
	var memory list
	memory.next().limits(l)
	return start().exportSection(wasmbinary.SectionMemory, memory, ExportMemory, wasmbinary.Memory)
}

// TableModule defines a table and exports it.
func TableModule(t wasmbinary.TableType) []byte {
	var table list
	table.next().op(byte(t.Elem)).limits(t.Limits)
	return start().exportSection(wasmbinary.SectionTable, table, PrefixTable, wasmbinary.Table)
}

// GlobalModule defines a global and exports it; bits are its value. A reference is null.
func GlobalModule(g wasmbinary.GlobalType, bits uint64) []byte {
	var globals list
	c := globals.next().op(byte(g.Type), bit(g.Mutable))
	c.value(g.Type, bits, byte(g.Type))
	c.op(op.End)
	return start().exportSection(wasmbinary.SectionGlobal, globals, PrefixGlobal, wasmbinary.Global)
}

// TagModule defines a tag of exceptions that hold values of the types, and exports it.
func TagModule(held []wasmbinary.ValType) []byte {
	var types, tags list
	types.next().op(wasmbinary.FuncType{Params: held}.Encode()...)
	tags.next().op(0, 0)
	out := start()
	out.section(wasmbinary.SectionType, types)
	return out.exportSection(wasmbinary.SectionTag, tags, PrefixKind, wasmbinary.Tag)
}

// TableAdapter imports a table by its number and exports it as the first.
func TableAdapter(index uint32, t wasmbinary.TableType) []byte {
	var imports list
	c := imports.next().name("0").name(PrefixTable+strconv.Itoa(int(index))).op(byte(wasmbinary.Table), wireType(t.Elem))
	c.limits(t.Limits)
	return start().exportSection(wasmbinary.SectionImport, imports, importName(wasmbinary.Table), wasmbinary.Table)
}

// GlobalAdapter imports a global by its number and exports it as the first.
func GlobalAdapter(index uint32, g wasmbinary.GlobalType) []byte {
	var imports list
	imports.next().name("0").name(PrefixGlobal+strconv.Itoa(int(index))).op(byte(wasmbinary.Global), wireType(g.Type), bit(g.Mutable))
	return start().exportSection(wasmbinary.SectionImport, imports, importName(wasmbinary.Global), wasmbinary.Global)
}

func start() *code {
	c := slices.Clip(code(wasmbinary.Header))
	return &c
}

// exportSection writes l as the section id, and exports the first of its kind.
func (c *code) exportSection(id byte, l list, name string, kind wasmbinary.Kind) []byte {
	var export list
	export.next().name(name).op(byte(kind), 0)
	c.section(id, l)
	c.section(wasmbinary.SectionExport, export)
	return *c
}

// value pushes a value, which is zero for a v128 and null, of the type null, for a reference.
func (c *code) value(t wasmbinary.ValType, bits uint64, null byte) {
	switch t {
	case wasmbinary.I32:
		c.i32(int32(uint32(bits)))
	case wasmbinary.I64:
		c.op(op.I64Const).s64(int64(bits))
	case wasmbinary.F32:
		c.op(op.F32Const).op(binary.LittleEndian.AppendUint32(nil, uint32(bits))...)
	case wasmbinary.F64:
		c.op(op.F64Const).op(binary.LittleEndian.AppendUint64(nil, bits)...)
	case wasmbinary.V128:
		c.with(op.SIMD, op.SIMDConst).op(make([]byte, 16)...)
	case wasmbinary.Funcref, wasmbinary.Externref, wasmbinary.Exnref:
		c.op(op.RefNull, null)
	}
}
