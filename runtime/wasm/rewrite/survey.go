package rewrite

import (
	"slices"

	"github.com/pages-toolchain/pages/runtime/wasmbinary"
	"github.com/pages-toolchain/pages/runtime/wasmbinary/op"
)

// This file looks for exceptions before code is written: which functions raise them, and which tries delegate or rethrow.

// try is a block of the encoding before the standard's.
type try struct {
	clauses   int
	all       bool // the last clause takes everything
	delegates bool
	target    uint32 // the label that it delegates to
	rethrown  bool
	level     int // handlers around its own
}

func isException(opcode byte) bool {
	switch opcode {
	case op.Try, op.Catch, op.Throw, op.Rethrow, op.ThrowRef, op.Delegate, op.CatchAll, op.TryTable:
		return true
	}
	return false
}

// declaresExceptions reports whether the declarations have to do with exceptions.
func declaresExceptions(p *wasmbinary.Module) bool {
	is := func(t wasmbinary.ValType) bool { return t == wasmbinary.Exnref }
	return len(p.Tags) > 0 ||
		slices.ContainsFunc(p.Types, func(t wasmbinary.FuncType) bool { return t.Has(wasmbinary.Exnref) }) ||
		slices.ContainsFunc(p.Tables, func(t wasmbinary.TableType) bool { return is(t.Elem) }) ||
		slices.ContainsFunc(p.Globals, func(g wasmbinary.GlobalType) bool { return is(g.Type) }) ||
		slices.ContainsFunc(p.Segments, func(s wasmbinary.ElementSegment) bool { return is(s.Elem) })
}

// sharesFuncs is Module.Shares.
func sharesFuncs(p *wasmbinary.Module) bool {
	exports := func(k wasmbinary.Kind) bool {
		return slices.ContainsFunc(p.Exports, func(e wasmbinary.Export) bool { return e.Kind == k })
	}
	return p.ImportedTables > 0 || exports(wasmbinary.Table) ||
		slices.ContainsFunc(p.Globals, func(g wasmbinary.GlobalType) bool { return g.Type == wasmbinary.Funcref }) &&
			(p.ImportedGlobals > 0 || exports(wasmbinary.Global)) ||
		slices.ContainsFunc(p.Types, func(t wasmbinary.FuncType) bool { return t.Has(wasmbinary.Funcref) })
}

// findRaising finds the functions that may end with an exception: those that throw, or call an unknown function, and those
// that call such ones.
func (w *writer) findRaising() {
	w.raising = make([]bool, len(w.Funcs))
	callers := make([][]uint32, len(w.Funcs))
	var found []uint32
	mark := func(f uint32) {
		if !w.raising[f] {
			w.raising[f] = true
			found = append(found, f)
		}
	}
	for f := range w.ImportedFuncs {
		mark(uint32(f))
	}
	for n, body := range w.Bodies {
		f := uint32(w.ImportedFuncs + n)
		x := &rewriter{writer: w, r: &wasmbinary.Reader{Bytes: body.Bytes, From: body.From}, locals: len(w.FuncType(f).Params)}
		x.readLocals()
		x.each(func(opcode byte, in instr) {
			switch {
			case opcode == op.Call, opcode == op.ReturnCall:
				callers[in.index] = append(callers[in.index], f)
			case opcode == op.CallIndirect, opcode == op.ReturnTable, isException(opcode):
				mark(f)
			}
		})
	}
	for len(found) > 0 {
		f := found[len(found)-1]
		found = found[:len(found)-1]
		for _, caller := range callers[f] {
			mark(caller)
		}
	}
}

// survey notes the properties of a function's tries before they are written.
func (x *rewriter) survey(opcode byte, in instr) {
	switch opcode {
	case op.Call:
		x.raises = x.raises || x.raising[in.index]
	case op.CallIndirect:
		x.raises = true
	}
	if isException(opcode) {
		x.raises, x.calls = true, true
	}
	switch opcode {
	case op.Block, op.Loop, op.If, op.TryTable:
		x.blocks = append(x.blocks, -1)
	case op.Try:
		x.blocks = append(x.blocks, len(x.tries))
		x.tries = append(x.tries, try{})
	case op.Catch, op.CatchAll, op.Delegate:
		x.surveyClause(opcode, in)
	case op.Rethrow:
		t := x.tryAt(in.index)
		if t == nil || t.clauses == 0 {
			x.r.Fail("rethrow of label %d, which is not a catch", in.index)
			return
		}
		t.rethrown = true
	}
	if opcode != op.End && opcode != op.Delegate {
		return
	}
	t := x.tryAt(0)
	if len(x.blocks) > 0 {
		x.blocks = x.blocks[:len(x.blocks)-1]
	}
	if t == nil || t.clauses == 0 {
		return
	}
	x.handlers--
	if t.rethrown {
		x.held = max(x.held, t.level+1)
	}
}

// tryAt returns the try of a label, or nil.
func (x *rewriter) tryAt(label uint32) *try {
	n := len(x.blocks) - 1 - int(label)
	if n < 0 || x.blocks[n] < 0 {
		return nil
	}
	return &x.tries[x.blocks[n]]
}

func (x *rewriter) surveyClause(opcode byte, in instr) {
	t := x.tryAt(0)
	if t == nil || t.all || opcode == op.Delegate && t.clauses > 0 {
		x.r.Fail("a catch or delegate without its try")
		return
	}
	if opcode == op.Delegate {
		t.delegates, t.target = true, in.index
		return
	}
	if t.clauses++; t.clauses == 1 {
		t.level = x.handlers
		x.handlers++
	}
	t.all = opcode == op.CatchAll
}
