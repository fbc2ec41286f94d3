// Package rewrite rewrites an author's WebAssembly module into the form that this project runs.
//
// A host cannot stop an unmodified module at a reasonable cost, nor store its state, nor set an element of its table.
// [Rewrite] therefore, in one pass that makes compiling about a tenth slower,
//
//   - counts: at loop heads, function entries and bulk operations, in a counter of the host's, which is called when the
//     counter runs out;
//   - bounds recursion by a second counter, of stack;
//   - calls imported functions through functions of the host's own, one for each signature, with the instance and the number
//     of the import;
//   - leaves instantiation without effects: segments and the start function are run by functions that the host calls;
//   - exports all tables, globals and referenced functions by number;
//   - turns exceptions into branches (exception.go), in a module that has any.
//
// In: the bytes of a core module (WebAssembly 2.0 with extended constant expressions, tail calls, atomic operations, and
// exceptions as they are and as they were before the standard). Out: a [Module], with the declarations of the original and
// the bytes to run. A malformed module is an error; type errors in function bodies are left to the compiler. Pure and safe
// for concurrent use.
package rewrite

import "github.com/pages-toolchain/pages/runtime/wasmbinary"

// Period is the start value of the fuel counter, in loop iterations, more or less.
const Period = 100_000

// Module is a module's declarations and its rewritten form.
type Module struct {
	wasmbinary.Declarations

	// Throws is set for a module that throws or catches exceptions, and for one from Lower, which passes exceptions of its calls on.
	Throws bool
	// Shares is set if functions of other instances can get into its tables, or its own into theirs.
	Shares bool

	Refs    []int  // the functions that FnRef returns by position, some of them several times; NoRef for none
	Elems   []Elem // the active element segments of function references, in order
	Dropped int    // the number of globals for dropped segments
	Bytes   []byte // the rewritten module
}

// Elem is an active element segment, which the function FnElems puts into a table. Offset is that of a constant, otherwise -1,
// and then Global is the global whose value it is, or NoRef.
type Elem struct {
	Table  uint32
	Offset int64
	Global int
	Base   int // position in Refs
	Length int
}

// CallKey names the host's function that calls imports of the type.
func CallKey(t wasmbinary.FuncType) string {
	if t.Has(wasmbinary.V128) {
		return NoCall
	}
	return t.Key()
}

// CallType is the type of the host's function that calls imports of the type.
func CallType(t wasmbinary.FuncType) wasmbinary.FuncType {
	if t.Has(wasmbinary.V128) {
		t = wasmbinary.FuncType{}
	}
	return wasmbinary.FuncType{Params: append([]wasmbinary.ValType{wasmbinary.I32, wasmbinary.I32}, t.Params...), Results: t.Results}
}

// Imports of the rewritten module: functions without parameters or results unless shown, and mutable i32 globals. Its other imports come
// from modules named by the number of the original import: a memory under ExportMemory, a table or global under its prefix and "0".
const (
	Host = "pages"
	// HostInterrupt is called when the fuel ran out.
	HostInterrupt = "interrupt"
	// HostOverflow is called when the stack ran out, and does not return.
	HostOverflow = "overflow"
	// HostAllow (elements i32) -> i32 is asked before a table grows; 0 refuses. A call with 0
	// reports that the last growth failed.
	HostAllow = "allow"

	// Counters is the module of the globals HostFuel and HostStack.
	Counters  = "counters"
	HostFuel  = "fuel"
	HostStack = "stack"
	// HostRaised and HostValue, also of Counters, are the current exception: see Module.Throws. HostRaised is 0 without one, otherwise the
	// number of its tag; with Boxed, HostValue is the number by which the host knows the exception, otherwise its payload.
	HostRaised = "raised"
	HostValue  = "value"
	Boxed      = 1 << 31

	// PrefixCall, and a signature's Key, is the module of a function HostCall that
	// calls an import: its first two parameters are the instance and the import's
	// Index. For a signature with a v128 the Key is NoCall, and it does not return.
	PrefixCall = "call "
	HostCall   = "call"
	NoCall     = "none"

	// Further imports of a module that throws. HostDiscard () drops the current boxed exception, HostKeep () lets it be raised more than
	// once, HostRef (raised, value i32) -> externref refers to one, and HostThrow (externref) raises it again. HostRelease (raised, value
	// i32) drops an earlier one that is no longer raised.
	HostDiscard = "discard"
	HostKeep    = "keep"
	HostRef     = "exnref"
	HostThrow   = "throw"
	HostRelease = "release"
	// PrefixTag, and the Key of Payload, is the module of HostBox (tag, …) that boxes
	// and raises an exception, and HostOpen (keep i32) -> … that returns the payload of the current boxed one.
	PrefixTag = "tag "
	HostBox   = "box"
	HostOpen  = "open"
)

// Payload returns the types that exceptions of a tag hold, as the host knows them: a
// v128 is two i64.
func Payload(tag wasmbinary.FuncType) (list []wasmbinary.ValType) {
	for _, t := range tag.Params {
		if t == wasmbinary.V128 {
			list = append(list, wasmbinary.I64)
			t = wasmbinary.I64
		}
		list = append(list, t)
	}
	return list
}

// Exports of the rewritten module: the memory, tables, globals and functions
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
func importName(k wasmbinary.Kind) string {
	return [...]string{wasmbinary.Table: PrefixTable + "0", wasmbinary.Memory: ExportMemory, wasmbinary.Global: PrefixGlobal + "0"}[k]
}
