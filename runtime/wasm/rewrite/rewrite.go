// Package rewrite reads a WebAssembly module of the author's and writes the form
// of it that this project runs.
//
// A host that runs a module as it came can neither stop it at a bearable price, nor
// store its state, nor set an element of its table. [Rewrite] therefore, in one pass
// that makes compiling take about a tenth longer,
//
//   - counts: at loop heads, function entries and bulk operations, in a counter
//     of the host's, which is called when the counter runs out;
//   - bounds recursion by a second counter, of stack;
//   - calls imported functions through functions of the host's own, one for each
//     signature, with the instance and the number of the import;
//   - leaves instantiation without effects: segments and the start function are
//     run by functions that the host calls;
//   - gives the host all tables, globals and referenced functions by number;
//   - turns exceptions into branches (exception.go), in a module that has any.
//
// In: the bytes of a core module (WebAssembly 2.0 with extended constant
// expressions, tail calls, atomic operations, and exceptions as they are and as
// they were before the standard). Out: a [Module], with what the
// original declares and the bytes to run. What is malformed is an error; type
// errors in function bodies are left to the compiler. Pure and safe for
// concurrent use.
package rewrite

import (
	"fmt"
	"slices"
)

// Period is what the fuel counter starts from: loop iterations, more or less.
const Period = 100_000

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

// String is the type as the text format writes it.
func (t ValType) String() string {
	switch t {
	case I32:
		return "i32"
	case I64:
		return "i64"
	case F32:
		return "f32"
	case F64:
		return "f64"
	case V128:
		return "v128"
	case Funcref:
		return "funcref"
	case Externref:
		return "externref"
	case Exnref:
		return "exnref"
	}
	return fmt.Sprintf("type %#x", byte(t))
}

// FuncType is a function's signature.
type FuncType struct{ Params, Results []ValType }

// Key is the signature as a short text: "if:d" takes an i32 and an f32 and
// returns an f64.
func (t FuncType) Key() string { return letters(t.Params) + ":" + letters(t.Results) }

// Letters are one for each type: i, I (i64), f, d, v, F (funcref), x, e (exnref).
func letters(list []ValType) string {
	b := make([]byte, len(list))
	for i, t := range list {
		b[i] = map[ValType]byte{I32: 'i', I64: 'I', F32: 'f', F64: 'd', V128: 'v', Funcref: 'F', Externref: 'x', Exnref: 'e'}[t]
	}
	return string(b)
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

// CallKey names the host's function that calls imports of the type.
func (t FuncType) CallKey() string {
	if t.Has(V128) {
		return NoCall
	}
	return t.Key()
}

// CallType is the type of the host's function that calls imports of the type.
func (t FuncType) CallType() FuncType {
	if t.Has(V128) {
		t = FuncType{}
	}
	return FuncType{Params: append([]ValType{I32, I32}, t.Params...), Results: t.Results}
}

// Kind is what an import or export is.
type Kind byte

// The kinds.
const (
	Func Kind = iota
	Table
	Memory
	Global
	Tag // what an exception holds
)

// String is the kind as WebAssembly.Module.exports names it.
func (k Kind) String() string { return [...]string{"function", "table", "memory", "global", "tag"}[k] }

// Limits are in pages of 64 KiB, or in elements.
type Limits struct {
	Min, Max uint32
	HasMax   bool
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

// NoRef stands for null, or for what is not known before the module runs.
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

// Module is what a module declares, and its rewritten form.
type Module struct {
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

	// Throws says that the module throws or catches exceptions, or that Lower made
	// it: one that its calls raise goes on in it.
	Throws bool
	// Shares says that functions of other instances can come into its tables, or
	// its own into theirs.
	Shares bool

	// Refs are the functions that can be referred to, by their position in the
	// list that the function FnRef reads. The same may stand there several times;
	// NoRef is a position that no function is at.
	Refs []int
	// Elems are the active element segments of function references, in order.
	Elems []Elem
	// Dropped is the number of globals that say which segments were dropped.
	Dropped int
	// Bytes are the rewritten module.
	Bytes []byte
}

// Elem says what the function FnElems puts into a table. Offset is that of a
// constant, else -1, and then Global is the global it is the value of, or NoRef.
type Elem struct {
	Table  uint32
	Offset int64
	Global int
	Base   int // position in Refs
	Length int
}

// FuncType is the signature of function i.
func (m *Module) FuncType(i uint32) FuncType { return m.Types[m.Funcs[i]] }

// What the rewritten module imports: functions without parameters or results
// unless shown, and mutable i32 globals. What else it imports comes from modules
// named by the number of the original import: a memory under ExportMemory, a table
// or global under its prefix and "0".
const (
	Host = "pages"
	// HostInterrupt is called when the fuel ran out.
	HostInterrupt = "interrupt"
	// HostOverflow is called when the stack ran out, and does not return.
	HostOverflow = "overflow"
	// HostAllow (elements i32) -> i32 is asked before a table grows; 0 refuses.
	// Asked with 0 it hears that the last growth failed.
	HostAllow = "allow"

	// Counters is the module of the globals HostFuel and HostStack.
	Counters  = "counters"
	HostFuel  = "fuel"
	HostStack = "stack"
	// HostRaised and HostValue, also of Counters, are the exception under way: see
	// Module.Throws. HostRaised is 0 without one, else the number of its tag; with
	// Boxed, HostValue is the number by which the host knows the exception, else
	// what it holds.
	HostRaised = "raised"
	HostValue  = "value"
	Boxed      = 1 << 31

	// PrefixCall, and a signature's Key, is the module of a function HostCall that
	// calls an import: its first two parameters are the instance and the import's
	// Index. For a signature with a v128 the Key is NoCall, and it does not return.
	PrefixCall = "call "
	HostCall   = "call"
	NoCall     = "none"

	// What a module imports beside it when it throws. HostDiscard () forgets the
	// boxed exception under way, HostKeep () lets it be raised more than once,
	// HostRef (raised, value i32) -> externref refers to one, and HostThrow
	// (externref) raises it again. HostRelease (raised, value i32) forgets one that was
	// under way and is not raised any more.
	HostDiscard = "discard"
	HostKeep    = "keep"
	HostRef     = "exnref"
	HostThrow   = "throw"
	HostRelease = "release"
	// PrefixTag, and the Key of Held, is the module of HostBox (tag, …) that boxes
	// and raises an exception, and HostOpen (keep i32) -> … that gives what the
	// boxed one under way holds.
	PrefixTag = "tag "
	HostBox   = "box"
	HostOpen  = "open"
)

// Held are the types of what exceptions of a tag hold, as the host knows them: a
// v128 is two i64.
func Held(tag FuncType) (list []ValType) {
	for _, t := range tag.Params {
		if t == V128 {
			list = append(list, I64)
			t = I64
		}
		list = append(list, t)
	}
	return list
}

// What the rewritten module exports: the memory, tables, globals and functions
// by number, and functions of the host's.
const (
	ExportMemory = "m"
	PrefixTable  = "t" // and the table's index
	PrefixGlobal = "g"
	PrefixFunc   = "f"
	PrefixKind   = "e"    // and a tag's index: a mutable i32, its number
	ExportSelf   = "self" // a mutable i32: the instance's number
	// ExportDropped, and a number less than Dropped, is a mutable i32 that is part
	// of the instance's state.
	ExportDropped = "dropped"

	FnElems = "elems" // () runs the active element segments
	FnData  = "data"  // () runs the active data segments
	FnDrop  = "drop"  // () drops them
	FnRef   = "ref"   // (position i32) -> funcref, of Refs

	PrefixGet  = "get"  // and the table's index: (i32) -> ref
	PrefixSet  = "set"  // (i32, ref)
	PrefixSize = "size" // () -> i32
	PrefixGrow = "grow" // (ref, i32) -> i32
	PrefixLane = "lane" // and the global's index: () -> (i64, i64), for one of type v128
	PrefixPut  = "put"  // (i64, i64)
)

// importName is the name under which the module of an import exports it.
func importName(k Kind) string {
	return [...]string{Table: PrefixTable + "0", Memory: ExportMemory, Global: PrefixGlobal + "0"}[k]
}
