package rewrite

import "slices"

// This file finds out what has to be known of exceptions before code is written: which
// functions raise them, and which tries delegate or rethrow.

// try is a block of the encoding before the standard's.
type try struct {
	clauses   int
	all       bool // the last of them takes everything
	delegates bool
	target    uint32 // the label that it delegates to
	rethrown  bool
	level     int // how many handlers are around its own
}

func isException(op byte) bool {
	switch op {
	case opTry, opCatch, opThrow, opRethrow, opThrowRef, opDelegate, opCatchAll, opTryTable:
		return true
	}
	return false
}

// throws reports whether the declarations have to do with exceptions.
func (p *parser) throws() bool {
	is := func(t ValType) bool { return t == Exnref }
	return len(p.Tags) > 0 ||
		slices.ContainsFunc(p.Types, func(t FuncType) bool { return t.Has(Exnref) }) ||
		slices.ContainsFunc(p.Tables, func(t TableType) bool { return is(t.Elem) }) ||
		slices.ContainsFunc(p.Globals, func(g GlobalType) bool { return is(g.Type) }) ||
		slices.ContainsFunc(p.segments, func(s segment) bool { return is(s.elem) })
}

// shares is Module.Shares.
func (p *parser) shares() bool {
	exports := func(k Kind) bool { return slices.ContainsFunc(p.Exports, func(e Export) bool { return e.Kind == k }) }
	return p.ImportedTables > 0 || exports(Table) ||
		slices.ContainsFunc(p.Globals, func(g GlobalType) bool { return g.Type == Funcref }) && (p.ImportedGlobals > 0 || exports(Global)) ||
		slices.ContainsFunc(p.Types, func(t FuncType) bool { return t.Has(Funcref) })
}

// findRaising finds the functions that may end with an exception: those that throw,
// or call what is not known here, and those that call such ones.
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
	for n, body := range w.parser.bodies {
		f := uint32(w.ImportedFuncs + n)
		x := &rewriter{writer: w, r: &reader{b: body.b, from: body.from}, locals: len(w.FuncType(f).Params)}
		x.readLocals()
		x.each(func(op byte, in instr) {
			switch {
			case op == opCall, op == opReturnCall:
				callers[in.index] = append(callers[in.index], f)
			case op == opCallIndirect, op == opReturnTable, isException(op):
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

// survey notes what has to be known of a function's tries before they are written.
func (x *rewriter) survey(op byte, in instr) {
	switch op {
	case opCall:
		x.raises = x.raises || x.raising[in.index]
	case opCallIndirect:
		x.raises = true
	}
	if isException(op) {
		x.raises, x.calls = true, true
	}
	switch op {
	case opBlock, opLoop, opIf, opTryTable:
		x.blocks = append(x.blocks, -1)
	case opTry:
		x.blocks = append(x.blocks, len(x.tries))
		x.tries = append(x.tries, try{})
	case opCatch, opCatchAll, opDelegate:
		x.surveyClause(op, in)
	case opRethrow:
		t := x.tryAt(in.index)
		if t == nil || t.clauses == 0 {
			x.r.fail("rethrow of label %d, which is no catch", in.index)
			return
		}
		t.rethrown = true
	}
	if op == opEnd || op == opDelegate {
		x.surveyEnd()
	}
}

// tryAt is the try that a label is of, or nil.
func (x *rewriter) tryAt(label uint32) *try {
	n := len(x.blocks) - 1 - int(label)
	if n < 0 || x.blocks[n] < 0 {
		return nil
	}
	return &x.tries[x.blocks[n]]
}

func (x *rewriter) surveyClause(op byte, in instr) {
	t := x.tryAt(0)
	if t == nil || t.all || op == opDelegate && t.clauses > 0 {
		x.r.fail("a catch or delegate without its try")
		return
	}
	if op == opDelegate {
		t.delegates, t.target = true, in.index
		return
	}
	if t.clauses++; t.clauses == 1 {
		t.level = x.handlers
		x.handlers++
	}
	t.all = op == opCatchAll
}

func (x *rewriter) surveyEnd() {
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
