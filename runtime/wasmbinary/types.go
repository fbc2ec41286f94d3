package wasmbinary

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pages-toolchain/pages/runtime/wasmbinary/op"
)

// ValType is a type of values, as the binary format encodes it.
type ValType byte

// The types of values.
const (
	I32       ValType = 0x7f
	I64       ValType = 0x7e
	F32       ValType = 0x7d
	F64       ValType = 0x7c
	V128      ValType = 0x7b
	Funcref   ValType = 0x70
	Externref ValType = 0x6f
	Exnref    ValType = 0x69 // in the rewritten module an Externref of the host's
)

// valTypes are the letters of Key, and the names of the text format.
var valTypes = map[ValType]struct{ letter, name string }{
	I32: {"i", "i32"}, I64: {"I", "i64"}, F32: {"f", "f32"}, F64: {"d", "f64"}, V128: {"v", "v128"},
	Funcref: {"F", "funcref"}, Externref: {"x", "externref"}, Exnref: {"e", "exnref"},
}

// String is the type as the text format writes it.
func (t ValType) String() string {
	if known, ok := valTypes[t]; ok {
		return known.name
	}
	return fmt.Sprintf("type %#x", byte(t))
}

// TypeOf returns the type of a letter of Key; Externref for any other text.
func TypeOf(letter string) ValType {
	for t, known := range valTypes {
		if known.letter == letter {
			return t
		}
	}
	return Externref
}

// FuncType is a function's signature.
type FuncType struct{ Params, Results []ValType }

// Key is the signature as a short text: "if:d" takes an i32 and an f32 and returns an f64.
func (t FuncType) Key() string { return letters(t.Params) + ":" + letters(t.Results) }

func letters(list []ValType) string {
	var b strings.Builder
	for _, t := range list {
		b.WriteString(valTypes[t].letter)
	}
	return b.String()
}

// Encode is the type in the binary format.
func (t FuncType) Encode() []byte {
	out := []byte{0x60}
	for _, list := range [][]ValType{t.Params, t.Results} {
		out = op.AppendU32(out, uint32(len(list)))
		for _, v := range list {
			out = append(out, byte(v))
		}
	}
	return out
}

// Has reports whether one of the types is among the parameters or results.
func (t FuncType) Has(types ...ValType) bool {
	for _, list := range [][]ValType{t.Params, t.Results} {
		for _, x := range list {
			if slices.Contains(types, x) {
				return true
			}
		}
	}
	return false
}

// Kind is the kind of an import or export.
type Kind byte

// The kinds.
const (
	Func Kind = iota
	Table
	Memory
	Global
	Tag // payload of an exception
)

// String is the kind as WebAssembly.Module.exports names it.
func (k Kind) String() string { return [...]string{"function", "table", "memory", "global", "tag"}[k] }

// Limits are in pages of 64 KiB, or in elements.
type Limits struct {
	Min, Max uint32
	HasMax   bool
	Shared   bool // of a memory
}

// TableType is a table's.
type TableType struct {
	Elem ValType
	Limits
}

// GlobalType is a global's. Ref is the function that it starts with, or NoRef.
type GlobalType struct {
	Type    ValType
	Mutable bool
	Ref     int
}

// NoRef means null, or a reference that is unknown before the module runs.
const NoRef = -1

// Import is one import. Index is its number in the index space of its kind.
type Import struct {
	Module, Name string
	Kind         Kind
	Index        uint32
}

// Export is one export.
type Export struct {
	Name  string
	Kind  Kind
	Index uint32
}

// Custom is a custom section.
type Custom struct {
	Name string
	Data []byte
}

// Declarations are the imports, exports and definitions of a module.
type Declarations struct {
	Types   []FuncType
	Imports []Import
	Exports []Export
	Customs []Custom
	Funcs   []uint32 // the type of each function, imported ones first
	Tables  []TableType
	Memory  *Limits // nil for none
	Globals []GlobalType
	Tags    []uint32 // the type of each tag, imported ones first
	Start   int      // a function, or NoRef

	ImportedFuncs, ImportedTables, ImportedGlobals, ImportedTags int
	ImportsMemory                                                bool
}

// FuncType is the signature of function i.
func (m *Declarations) FuncType(i uint32) FuncType { return m.Types[m.Funcs[i]] }

// Expression is a constant expression, without its end.
type Expression []ConstInstruction

// ConstInstruction is one of a constant expression.
type ConstInstruction struct {
	Op    byte
	Index uint32 // of a global or function
	Raw   []byte // the whole instruction, if it has no index
}

// expr reads a constant expression.
func (p *Module) expr(r *Reader) (e Expression) {
	for r.More() {
		start := r.At
		in := ConstInstruction{Op: r.Byte()}
		switch in.Op {
		case op.End:
			return e
		case op.GlobalGet:
			in.Index = r.Index(len(p.Globals), "global")
		case op.RefFunc:
			// Functions are declared after imports and before all that has expressions.
			in.Index = r.Index(len(p.Funcs), "function")
		case op.I32Const:
			r.Signed(32)
		case op.I64Const:
			r.Signed(64)
		case op.F32Const:
			r.take(4)
		case op.F64Const:
			r.take(8)
		case op.RefNull:
			r.heapType()
		case op.SIMD:
			if r.U32() != op.SIMDConst {
				r.Fail("an expression is not constant")
			}
			r.take(16)
		case 0x6a, 0x6b, 0x6c, 0x7c, 0x7d, 0x7e: // add, sub and mul of i32 and i64
		case 0xfb:
			r.lack(GC)
		default:
			r.Fail("an expression is not constant")
		}
		in.Raw = r.Bytes[start:r.At]
		e = append(e, in)
	}
	r.Fail("unexpected end")
	return e
}

// ref returns the function that e refers to, or NoRef.
func (e Expression) ref() int {
	if len(e) == 1 && e[0].Op == op.RefFunc {
		return int(e[0].Index)
	}
	return NoRef
}

// Constant returns the value of e if it is an i32.const, otherwise -1.
func (e Expression) Constant() int64 {
	if len(e) != 1 || e[0].Op != op.I32Const {
		return -1
	}
	r := &Reader{Bytes: e[0].Raw, At: 1}
	return int64(uint32(r.Signed(32)))
}

// Global returns the global whose value e is, or NoRef.
func (e Expression) Global() int {
	if len(e) == 1 && e[0].Op == op.GlobalGet {
		return int(e[0].Index)
	}
	return NoRef
}
