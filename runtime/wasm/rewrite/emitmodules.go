package rewrite

import (
	"encoding/binary"
	"slices"
	"strconv"

	"github.com/pages-toolchain/pages/runtime/wasmbinary"
	"github.com/pages-toolchain/pages/runtime/wasmbinary/op"
)

// This file makes the modules of the things that JavaScript makes, and of
// adapters.

// MemoryModule defines a memory and exports it.
func MemoryModule(l wasmbinary.Limits) []byte {
	var memory, export list
	memory.next().limits(l)
	export.next().name(ExportMemory).op(byte(wasmbinary.Memory), 0)
	out := start()
	out.section(wasmbinary.SectionMemory, memory)
	out.section(wasmbinary.SectionExport, export)
	return out
}

// TableModule defines a table and exports it.
func TableModule(t wasmbinary.TableType) []byte {
	var table, export list
	table.next().op(byte(t.Elem)).limits(t.Limits)
	export.next().name(PrefixTable).op(byte(wasmbinary.Table), 0)
	out := start()
	out.section(wasmbinary.SectionTable, table)
	out.section(wasmbinary.SectionExport, export)
	return out
}

// GlobalModule defines a global and exports it; bits are its value, which for a
// reference is null.
func GlobalModule(g wasmbinary.GlobalType, bits uint64) []byte {
	var globals, export list
	c := globals.next().op(byte(g.Type), bit(g.Mutable))
	switch g.Type {
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
		c.op(op.RefNull, byte(g.Type))
	}
	c.op(op.End)
	export.next().name(PrefixGlobal).op(byte(wasmbinary.Global), 0)
	out := start()
	out.section(wasmbinary.SectionGlobal, globals)
	out.section(wasmbinary.SectionExport, export)
	return out
}

// TagModule defines a tag of exceptions that hold values of the types, and exports it.
func TagModule(held []wasmbinary.ValType) []byte {
	var types, tags, export list
	types.next().op(0x60).u32(uint32(len(held)))
	for _, t := range held {
		types.body.op(byte(t))
	}
	types.body.u32(0)
	tags.next().op(0, 0)
	export.next().name(PrefixKind).op(byte(wasmbinary.Tag), 0)
	out := start()
	out.section(wasmbinary.SectionType, types)
	out.section(wasmbinary.SectionTag, tags)
	out.section(wasmbinary.SectionExport, export)
	return out
}

// TableAdapter imports a table by its number and exports it as the first.
func TableAdapter(index uint32, t wasmbinary.TableType) []byte {
	var imports list
	imports.next().name("0").name(PrefixTable+strconv.Itoa(int(index))).op(byte(wasmbinary.Table), wireType(t.Elem)).limits(
		wasmbinary.Limits{Min: t.Min, Max: t.Max, HasMax: t.HasMax},
	)
	return adapter(imports, wasmbinary.Table)
}

// GlobalAdapter imports a global by its number and exports it as the first.
func GlobalAdapter(index uint32, g wasmbinary.GlobalType) []byte {
	var imports list
	imports.next().name("0").name(PrefixGlobal+strconv.Itoa(int(index))).op(byte(wasmbinary.Global), wireType(g.Type), bit(g.Mutable))
	return adapter(imports, wasmbinary.Global)
}

func adapter(imports list, kind wasmbinary.Kind) []byte {
	var export list
	export.next().name(importName(kind)).op(byte(kind), 0)
	out := start()
	out.section(wasmbinary.SectionImport, imports)
	out.section(wasmbinary.SectionExport, export)
	return out
}

func start() code { return slices.Clip(code(wasmbinary.Header)) }
