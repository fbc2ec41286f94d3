package wasmbinary

import (
	"fmt"

	"github.com/pages-toolchain/pages/runtime/wasmbinary/op"
)

// This file names the parts of WebAssembly that production runs and this package does not read.

// Feature is such a part, by its name in WebAssembly's list of features.
type Feature string

// The features.
const (
	GC             Feature = "garbage collection (GC)"
	TypedFuncRefs  Feature = "typed function references"
	RelaxedSIMD    Feature = "relaxed SIMD"
	MultipleMemory Feature = "multiple memories"
	Memory64       Feature = "64-bit memories and tables (memory64)"
	TableInit      Feature = "tables with an initial value"
	WideArithmetic Feature = "wide arithmetic"
	PageSizes      Feature = "custom page sizes"
	StackSwitching Feature = "stack switching"
	SharedThings   Feature = "shared functions, tables and globals (shared-everything threads)"
	Components     Feature = "the component model"
)

// drafts are the features that no engine of production has by default.
var drafts = map[Feature]bool{
	WideArithmetic: true, PageSizes: true, StackSwitching: true, SharedThings: true, Components: true,
}

// FeatureError means that a module needs a feature.
type FeatureError struct {
	Feature Feature
	At      int // the offset in the module
}

// Error implements error.
func (e *FeatureError) Error() string {
	where := "production runs such modules, pages cannot"
	if e.Draft() {
		where = "no engine of production has it"
	}
	return fmt.Sprintf("the module uses %s: %s @+%d", e.Feature, where, e.At)
}

// Draft reports whether production lacks the feature too.
func (e *FeatureError) Draft() bool { return drafts[e.Feature] }

// lack records that the previous byte belongs to a feature.
func (r *Reader) lack(f Feature) {
	if r.Err == nil {
		r.Err = &FeatureError{f, max(r.From+r.At-1, 0)}
	}
}

// Check reads a whole module, with the instructions of its functions. The error is its first fault: a *FeatureError for a
// feature that this package does not read. Indices and types in functions are not checked.
func Check(module []byte) error {
	p, err := Parse(module)
	if err != nil {
		return err
	}
	for _, body := range p.Bodies {
		r := &Reader{Bytes: body.Bytes, From: body.From}
		r.Each(MaxLocals, "groups of locals", func() {
			r.U32()
			ReadType(r)
		})
		for r.More() {
			r.step()
		}
		if r.Err != nil {
			return r.Err
		}
	}
	return nil
}

// step steps over an instruction.
func (r *Reader) step() {
	switch opcode := r.Byte(); opcode {
	case op.Block, op.Loop, op.If, op.Try:
		r.BlockType()
	case op.TryTable:
		r.BlockType()
		r.Each(MaxBodyBytes, "clauses", func() {
			const all = 2
			if r.Byte() < all {
				r.U32()
			}
			r.U32()
		})
	case op.Catch, op.Throw, op.Delegate, op.Br, op.BrIf, op.Rethrow, op.Call, op.ReturnCall, op.RefFunc, op.LocalGet, op.LocalSet,
		op.LocalTee, op.GlobalGet, op.GlobalSet, op.TableGet, op.TableSet:
		r.U32()
	case op.ThrowRef, op.CatchAll:
	case op.BrTable:
		r.Each(MaxBodyBytes, "labels", func() { r.U32() })
		r.U32()
	case op.CallIndirect, op.ReturnTable:
		r.U32()
		r.U32()
	case op.Misc:
		r.skipMisc()
	default:
		r.Skip(opcode)
	}
}

// BlockType reads the type of a block: below 0 none or that of a value, otherwise an index.
func (r *Reader) BlockType() int64 {
	if r.More() {
		switch r.Bytes[r.At] {
		case refNull, ref:
			r.At++
			r.reference()
			return 0
		}
		if f := abstractFeature(r.Bytes[r.At]); f != "" {
			r.At++
			r.lack(f)
			return 0
		}
	}
	return r.Signed(33)
}

func (r *Reader) skipMisc() {
	switch sub := r.U32(); sub {
	case 0, 1, 2, 3, 4, 5, 6, 7:
	case op.MiscMemoryInit:
		r.U32()
		r.MemoryIndex()
	case op.MiscMemoryCopy:
		r.MemoryIndex()
		r.MemoryIndex()
	case op.MiscMemoryFill:
		r.MemoryIndex()
	case op.MiscDataDrop, op.MiscElemDrop, op.MiscTableGrow, op.MiscTableSize, op.MiscTableFill:
		r.U32()
	case op.MiscTableInit, op.MiscTableCopy:
		r.U32()
		r.U32()
	default:
		r.UnknownMisc(sub)
	}
}

// UnknownMisc is the fault of an instruction of the family 0xfc that is not known.
func (r *Reader) UnknownMisc(sub uint32) {
	const firstWide, lastWide = 19, 22
	if sub >= firstWide && sub <= lastWide {
		r.lack(WideArithmetic)
	}
	r.Fail("the instruction 0xfc %#x is not supported", sub)
}

// MemoryIndex reads the index of a memory; a module has only one.
func (r *Reader) MemoryIndex() {
	if r.U32() != 0 {
		r.lack(MultipleMemory)
	}
}

// The first bytes of types that other features have.
const (
	refNull = 0x63 // (ref null …)
	ref     = 0x64
)

// abstractFeature returns the feature that brings a type of one byte; "" for the others.
func abstractFeature(b byte) Feature {
	switch b {
	case 0x6e, 0x6d, 0x6c, 0x6b, 0x6a, 0x71, 0x72, 0x73, 0x74: // any, eq, i31, struct, array, none, noextern, nofunc, noexn
		return GC
	case 0x78, 0x77: // i8 and i16, of fields
		return GC
	case 0x68, 0x75: // cont, nocont
		return StackSwitching
	case 0x65, 0x62: // shared types, exact types
		return SharedThings
	}
	return ""
}

// reference notes the feature of a reference type after its first byte.
func (r *Reader) reference() {
	if r.More() {
		if f := abstractFeature(r.Bytes[r.At]); f != "" {
			r.lack(f)
			return
		}
	}
	r.lack(TypedFuncRefs)
}

// heapType reads the type of a null.
func (r *Reader) heapType() {
	const firstAbstract = 0x40 // below it are indices
	if r.More() && r.Bytes[r.At]&0x7f < firstAbstract {
		r.At++
		r.lack(TypedFuncRefs)
		return
	}
	readRefType(r)
}

// typeForm notes the feature of a type other than a function type.
func (r *Reader) typeForm(form byte) {
	switch form {
	case 0x5f, 0x5e, 0x4e, 0x50, 0x4f, 0x4d, 0x4c: // struct, array, rec, sub, sub final, describes, descriptor
		r.lack(GC)
	case 0x5d:
		r.lack(StackSwitching)
	case 0x65:
		r.lack(SharedThings)
	}
	r.Fail("a type is %#x instead of a function type", form)
}

// unknown is the fault of an instruction that is not known.
func (r *Reader) unknown(opcode byte) {
	switch opcode {
	case 0x14, 0x15, 0xd4, 0xd5, 0xd6: // call_ref, return_call_ref, ref.as_non_null, br_on_null, br_on_non_null
		r.lack(TypedFuncRefs)
	case 0xd3, 0xfb: // ref.eq, and struct, array, i31 and casts
		r.lack(GC)
	case 0xe0, 0xe1, 0xe2, 0xe3, 0xe4, 0xe5, 0xe6:
		r.lack(StackSwitching)
	}
	r.Fail("the instruction %#x is not supported", opcode)
}
