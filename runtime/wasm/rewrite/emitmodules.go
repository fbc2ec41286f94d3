package rewrite

import (
	"encoding/binary"
	"slices"
	"strconv"
)

// This file makes the modules of the things that JavaScript makes, and of
// adapters.

// MemoryModule defines a memory and exports it.
func MemoryModule(l Limits) []byte {
	var memory, export list
	memory.next().limits(l)
	export.next().name(ExportMemory).op(byte(Memory), 0)
	out := start()
	out.section(sectionMemory, memory)
	out.section(sectionExport, export)
	return out
}

// TableModule defines a table and exports it.
func TableModule(t TableType) []byte {
	var table, export list
	table.next().op(byte(t.Elem)).limits(t.Limits)
	export.next().name(PrefixTable).op(byte(Table), 0)
	out := start()
	out.section(sectionTable, table)
	out.section(sectionExport, export)
	return out
}

// GlobalModule defines a global and exports it; bits are its value, which for a
// reference is null.
func GlobalModule(g GlobalType, bits uint64) []byte {
	var globals, export list
	c := globals.next().op(byte(g.Type), bit(g.Mutable))
	switch g.Type {
	case I32:
		c.i32(int32(uint32(bits)))
	case I64:
		c.op(opI64Const).s64(int64(bits))
	case F32:
		c.op(opF32Const).op(binary.LittleEndian.AppendUint32(nil, uint32(bits))...)
	case F64:
		c.op(opF64Const).op(binary.LittleEndian.AppendUint64(nil, bits)...)
	case V128:
		c.with(opSIMD, simdConst).op(make([]byte, 16)...)
	case Funcref, Externref, Exnref:
		c.op(opRefNull, byte(g.Type))
	}
	c.op(opEnd)
	export.next().name(PrefixGlobal).op(byte(Global), 0)
	out := start()
	out.section(sectionGlobal, globals)
	out.section(sectionExport, export)
	return out
}

// TagModule defines a tag of exceptions that hold values of the types, and exports it.
func TagModule(held []ValType) []byte {
	var types, tags, export list
	types.next().op(0x60).u32(uint32(len(held)))
	for _, t := range held {
		types.body.op(byte(t))
	}
	types.body.u32(0)
	tags.next().op(0, 0)
	export.next().name(PrefixKind).op(byte(Tag), 0)
	out := start()
	out.section(sectionType, types)
	out.section(sectionTag, tags)
	out.section(sectionExport, export)
	return out
}

// TableAdapter imports a table by its number and exports it as the first.
func TableAdapter(index uint32, t TableType) []byte {
	var imports list
	imports.next().name("0").name(PrefixTable+strconv.Itoa(int(index))).op(byte(Table), wire(t.Elem)).limits(Limits{Min: t.Min, Max: t.Max, HasMax: t.HasMax})
	return adapter(imports, Table)
}

// GlobalAdapter imports a global by its number and exports it as the first.
func GlobalAdapter(index uint32, g GlobalType) []byte {
	var imports list
	imports.next().name("0").name(PrefixGlobal+strconv.Itoa(int(index))).op(byte(Global), wire(g.Type), bit(g.Mutable))
	return adapter(imports, Global)
}

func adapter(imports list, kind Kind) []byte {
	var export list
	export.next().name(importName(kind)).op(byte(kind), 0)
	out := start()
	out.section(sectionImport, imports)
	out.section(sectionExport, export)
	return out
}

func start() code { return slices.Clip(code(header)) }
