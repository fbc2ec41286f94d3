package rewrite

import (
	"math"
	"slices"
)

// This file turns exceptions into branches.
//
// What is raised is in two globals of the host's: see HostRaised. After each call
// that may have raised, and where something is thrown, code branches to a landing:
//
//	try (result R)           block (result R)
//	  BODY                     block
//	                             block (result R)
//	                               BODY
//	                             end
//	                             br 1
//	                           end               ;; the landing of BODY
//	catch $tag                 block
//	                             ;; br_if 0 when it is no $tag
//	                             block (result R)
//	  HANDLER                      ;; what it holds
//	                               HANDLER
//	                             end
//	                             br 1
//	                           end
//	                           br …              ;; to the landing around
//	end                      end
//
// The landing of a function's body is before its end: it returns what is zero, and
// the caller looks. Calls of functions that raise nothing are left alone. A trap is
// none of this: it unwinds in the host.

// try is a block of the encoding before the standard's.
type try struct {
	clauses   int
	all       bool // the last of them takes everything
	delegates bool
	target    uint32 // the label that it delegates to
	rethrown  bool
	level     int // how many handlers are around its own
}

// frame is a block of the original that is open.
type frame struct {
	op      byte // opBlock and opLoop catch nothing; else opTry, opTryTable or the clause that is open
	at      uint32
	landing uint32 // for what is raised in it
	outer   uint32 // for what its clauses leave
	block   int64
	try     *try
	clauses []clause // of a try_table
}

// clause is one of a try_table.
type clause struct {
	kind byte
	tag  uint32
	to   uint32
}

// The kinds of clauses: with a tag or without, and with a reference or without.
const (
	clauseRef = 1
	clauseAll = 2
)

func isException(op byte) bool {
	switch op {
	case opTry, opCatch, opThrow, opRethrow, opThrowRef, opDelegate, opCatchAll, opTryTable:
		return true
	}
	return false
}

// isTyped reports whether op may name a type of references.
func isTyped(op byte) bool {
	switch op {
	case opBlock, opLoop, opIf, opSelectTyped, opRefNull:
		return true
	}
	return false
}

// wire is the type that stands for t in the rewritten module.
func wire(t ValType) byte {
	if t == Exnref {
		t = Externref
	}
	return byte(t)
}

// copyTyped copies an instruction of which isTyped is true.
func (x *rewriter) copyTyped(in instr) {
	x.copy(in)
	if last := len(x.out) - 1; x.out[last] == byte(Exnref) {
		x.out[last] = byte(Externref)
	}
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

// extra is the number of i32 locals of our own: spare, two for each handler that
// may rethrow, and two that are used at once.
func (x *rewriter) extra() int {
	if !x.raises {
		return 1
	}
	return 3 + 2*x.held
}

// heldAt is the first of the locals that keep what the handlers of a level caught.
func (x *rewriter) heldAt(level int) uint32 { return x.spare + 1 + 2*uint32(level) }

// open begins a block of the rewritten function.
func (x *rewriter) open(op byte, block int64) {
	x.out.op(op)
	if block >= 0 {
		x.out.s64(block)
	} else {
		x.out.op(wire(ValType(block & 0x7f)))
	}
	x.nest++
}

func (x *rewriter) end() {
	x.out.op(opEnd)
	x.nest--
}

// empty is the type of blocks without parameters and results.
const empty = blockEmpty - 0x80

// before is the type of blocks that take what those of the type block do.
func (x *rewriter) before(block int64) int64 {
	if block < 0 || len(x.Types[block].Params) == 0 {
		return empty
	}
	return x.derived(block, 0, FuncType{Params: x.Types[block].Params})
}

// after is the type of blocks that give what those of the type block do.
func (x *rewriter) after(block int64) int64 {
	if block < 0 || len(x.Types[block].Params) == 0 {
		return block
	}
	return x.derived(block, 1, FuncType{Results: x.Types[block].Results})
}

func (w *writer) derived(block int64, which int, t FuncType) int64 {
	key := 2*block + int64(which)
	i, known := w.blocks[key]
	if !known {
		i = int64(w.typeIndex(t))
		w.blocks[key] = i
	}
	return i
}

// label is how a branch names the label at, counted from outside.
func (x *rewriter) label(at uint32) uint32 { return x.nest - 1 - at }

func (x *rewriter) branch(at uint32) { x.out.with(opBr, x.label(at)) }

// target is the label that the original names i.
func (x *rewriter) target(i uint32) uint32 { return x.frames[len(x.frames)-1-int(i)].at }

func (x *rewriter) landing() uint32 { return x.frames[len(x.frames)-1].landing }

// begin opens what a function that raises is in; its end is that of the first frame.
func (x *rewriter) begin(results int64) {
	x.nest = 1 // enter's block
	x.open(opBlock, empty)
	x.open(opBlock, results)
	x.frames = append(x.frames, frame{op: opReturn, landing: 1})
}

// lower writes one instruction of a function that raises.
func (x *rewriter) lower(op byte, in instr) {
	c := &x.out
	switch op {
	case opBlock, opLoop, opIf:
		f := frame{op: opBlock, at: x.nest, landing: x.landing(), block: in.block}
		x.open(op, in.block)
		if op == opLoop {
			f.op = opLoop
			x.charge(x.perLoop)
		}
		x.frames = append(x.frames, f)
	case opTry:
		x.openTry(in)
	case opTryTable:
		x.openTable(in)
	case opCatch, opCatchAll:
		x.openClause(op, in)
	case opEnd, opDelegate:
		x.close()
	case opThrow:
		c.with(opGlobalGet, x.tag(in.index)).with(opCall, x.raiser(x.Types[x.Tags[in.index]]))
		x.branch(x.landing())
	case opRethrow:
		x.rethrow(&x.frames[len(x.frames)-1-int(in.index)])
	case opThrowRef:
		c.with(opCall, x.hosts+hostThrow)
		x.branch(x.landing())
	case opBr, opBrIf:
		c.with(op, x.label(x.target(in.index)))
	case opBrTable:
		x.brTable(in)
	case opReturn:
		x.branch(0)
	case opCall:
		x.instruction(op, in)
		if x.raising[in.index] {
			x.look()
		}
	case opCallIndirect:
		x.copy(in)
		x.look()
	case opReturnCall, opReturnTable:
		x.letAllGo()
		x.instruction(op, in)
	default:
		x.instruction(op, in)
	}
}

// look goes to the landing if the call before raised.
func (x *rewriter) look() {
	x.out.with(opGlobalGet, x.raised).with(opBrIf, x.label(x.landing()))
}

func (x *rewriter) brTable(in instr) {
	r := &reader{b: x.r.b, at: in.start + 1}
	n := r.u32()
	x.out.with(opBrTable, n)
	for range n + 1 {
		x.out.u32(x.label(x.target(r.u32())))
	}
}

func (x *rewriter) openTry(in instr) {
	t := &x.tries[0]
	x.tries = x.tries[1:]
	f := frame{op: opBlock, at: x.nest, landing: x.landing(), outer: x.landing(), block: in.block, try: t}
	if t.delegates {
		f.landing = x.frames[len(x.frames)-1-int(t.target)].landing
	}
	x.open(opBlock, in.block)
	if t.clauses > 0 {
		f.op = opTry
		x.openBody(&f)
	}
	x.frames = append(x.frames, f)
}

func (x *rewriter) openBody(f *frame) {
	f.landing = x.nest
	x.open(opBlock, x.before(f.block))
	x.open(opBlock, f.block)
}

func (x *rewriter) openTable(in instr) {
	f := frame{op: opTryTable, at: x.nest, outer: x.landing(), block: in.block}
	r := &reader{b: x.r.b, at: in.start + 1}
	r.signed(33)
	for range r.u32() {
		k := clause{kind: r.byte()}
		if k.kind&clauseAll == 0 {
			k.tag = r.u32()
		}
		label := r.u32()
		k.to = x.target(label)
		x.checkClause(k, &x.frames[len(x.frames)-1-int(label)])
		f.clauses = append(f.clauses, k)
	}
	x.open(opBlock, in.block)
	x.openBody(&f)
	x.frames = append(x.frames, f)
}

// checkClause holds what a clause gives to what its label takes. The rewritten code
// would show only what is missing.
func (x *rewriter) checkClause(k clause, to *frame) {
	var gives, takes []ValType
	if k.kind&clauseAll == 0 {
		gives = x.Types[x.Tags[k.tag]].Params
	}
	if k.kind&clauseRef != 0 {
		gives = append(slices.Clip(gives), Exnref)
	}
	switch {
	case to.op == opReturn:
		takes = x.results
	case to.block >= 0 && to.op == opLoop:
		takes = x.Types[to.block].Params
	case to.block >= 0:
		takes = x.Types[to.block].Results
	case to.block != empty && to.op != opLoop:
		takes = []ValType{ValType(to.block & 0x7f)}
	}
	if !slices.Equal(gives, takes) {
		x.r.fail("type mismatch: a clause's label takes other values than the clause gives")
	}
}

// openClause ends the body or handler before, and begins a handler.
func (x *rewriter) openClause(op byte, in instr) {
	f := &x.frames[len(x.frames)-1]
	x.closePart(f)
	f.op, f.landing = op, f.outer
	if op == opCatch {
		x.open(opBlock, empty)
		x.match(in.index)
		x.out.op(opI32Eqz).with(opBrIf, 0)
		x.open(opBlock, x.after(f.block))
	}
	if f.try.rethrown {
		x.letGo(f.try.level)
		x.hold(x.heldAt(f.try.level))
	}
	switch {
	case op == opCatch:
		x.take(in.index, f.try.rethrown)
	case f.try.rethrown:
		x.out.i32(0).with(opGlobalSet, x.raised)
	default:
		x.out.with(opCall, x.discarder())
	}
}

// closePart ends a body, or the handler of a catch.
func (x *rewriter) closePart(f *frame) {
	x.end()
	x.branch(f.at)
	x.end()
}

func (x *rewriter) close() {
	f := &x.frames[len(x.frames)-1]
	switch f.op {
	case opReturn:
		x.closePart(f)
		x.zeros()
	case opCatch:
		x.closePart(f)
		x.branch(f.outer)
	case opTryTable:
		x.closePart(f)
		for _, k := range f.clauses {
			x.dispatch(k)
		}
		x.branch(f.outer)
	}
	x.end()
	x.frames = x.frames[:len(x.frames)-1]
}

// zeros are what a function returns that raised.
func (x *rewriter) zeros() {
	c := &x.out
	for _, t := range x.results {
		switch t {
		case I32:
			c.i32(0)
		case I64:
			c.op(opI64Const).s64(0)
		case F32:
			c.op(opF32Const, 0, 0, 0, 0)
		case F64:
			c.op(opF64Const, 0, 0, 0, 0, 0, 0, 0, 0)
		case V128:
			c.with(opSIMD, simdConst).op(make([]byte, 16)...)
		case Funcref, Externref, Exnref:
			c.op(opRefNull, wire(t))
		}
	}
}

// match pushes whether what was raised is of a tag.
func (x *rewriter) match(tag uint32) {
	x.out.with(opGlobalGet, x.raised).i32(math.MaxInt32).op(opI32And).with(opGlobalGet, x.tag(tag)).op(opI32Eq)
}

// hold puts what was raised into two locals.
func (x *rewriter) hold(local uint32) {
	x.out.with(opGlobalGet, x.raised).with(opLocalSet, local).with(opGlobalGet, x.value).with(opLocalSet, local+1)
}

// take pushes what the exception under way holds, which is of the tag, and ends it.
func (x *rewriter) take(tag uint32, keep bool) {
	x.out.i32(int32(bit(keep))).with(opCall, x.opener(x.Types[x.Tags[tag]]))
}

// dispatch writes a clause of a try_table, behind its landing.
func (x *rewriter) dispatch(k clause) {
	c := &x.out
	if k.kind&clauseAll == 0 {
		x.match(k.tag)
		x.open(opIf, empty)
	}
	local := x.heldAt(x.held)
	if k.kind&clauseRef != 0 {
		x.hold(local)
	}
	switch {
	case k.kind&clauseAll == 0:
		x.take(k.tag, k.kind&clauseRef != 0)
	case k.kind&clauseRef != 0:
		c.i32(0).with(opGlobalSet, x.raised)
	default:
		c.with(opCall, x.discarder())
	}
	if k.kind&clauseRef != 0 {
		c.with(opLocalGet, local).with(opLocalGet, local+1).with(opCall, x.hosts+hostRef)
	}
	x.branch(k.to)
	if k.kind&clauseAll == 0 {
		x.end()
	}
}

// rethrow raises what the open handler of f caught. It can be raised again when
// that handler is not left.
func (x *rewriter) rethrow(f *frame) {
	local := x.heldAt(f.try.level)
	x.out.with(opLocalGet, local).with(opGlobalSet, x.raised).with(opLocalGet, local+1).with(opGlobalSet, x.value)
	if x.landing() > f.at {
		x.out.with(opCall, x.hosts+hostKeep)
	} else {
		x.out.i32(0).with(opLocalSet, local)
	}
	x.branch(x.landing())
}

// letGo frees what a handler of a level held, that was left and did not raise it
// again.
func (x *rewriter) letGo(level int) {
	local := x.heldAt(level)
	x.out.with(opLocalGet, local).op(opIf, blockEmpty).with(opLocalGet, local).with(opLocalGet, local+1).with(opCall, x.hosts+hostRelease).op(opEnd)
}

// letAllGo is for the end of the function.
func (x *rewriter) letAllGo() {
	for level := range x.held {
		x.letGo(level)
	}
}

// tag is the global that holds a tag's number.
func (w *writer) tag(i uint32) uint32 { return w.self + 1 + i }

// loose reports whether an exception of a tag of type t is not boxed: it holds one
// value of 32 bits, or none.
func loose(t FuncType) bool {
	return len(t.Params) == 0 || len(t.Params) == 1 && (t.Params[0] == I32 || t.Params[0] == F32)
}

// heldKey is the Key of what the host knows an exception to hold.
func heldKey(t FuncType) string { return FuncType{Params: Held(t)}.Key() }

// raiser is the function (…, tag) that raises what an exception of a type holds.
func (w *writer) raiser(t FuncType) uint32 {
	name := "raise " + t.Key()
	if i, known := w.helperOf[name]; known {
		return i
	}
	var body code
	tag := uint32(len(t.Params))
	if loose(t) {
		body.with(opLocalGet, tag).with(opGlobalSet, w.raised)
		if tag > 0 {
			body.with(opLocalGet, 0)
			if t.Params[0] == F32 {
				body.op(opI32FromF32)
			}
			body.with(opGlobalSet, w.value)
		}
	} else {
		body.with(opLocalGet, tag)
		for i, p := range t.Params {
			body.with(opLocalGet, uint32(i))
			if p == V128 {
				body.with(opSIMD, simdExtract).op(0).with(opLocalGet, uint32(i)).with(opSIMD, simdExtract).op(1)
			}
		}
		body.with(opCall, w.boxOf[heldKey(t)])
	}
	return w.add(name, FuncType{Params: append(slices.Clone(t.Params), I32)}, &body)
}

// opener is the function (keep) that gives what an exception of a type holds.
func (w *writer) opener(t FuncType) uint32 {
	name := "open " + t.Key()
	if i, known := w.helperOf[name]; known {
		return i
	}
	held := Held(t)
	var body code
	if loose(t) {
		c := body.with(opGlobalGet, w.raised).i32(0).op(opI32LtS, opIf)
		if len(held) == 0 {
			c.op(blockEmpty)
		} else {
			c.op(byte(held[0]))
		}
		c.with(opLocalGet, 0).with(opCall, w.boxOf[heldKey(t)]+1)
		if len(held) > 0 {
			c.op(opElse).with(opGlobalGet, w.value)
			if held[0] == F32 {
				c.op(opF32FromI32)
			}
		}
		c.op(opEnd)
	} else {
		body.with(opLocalGet, 0).with(opCall, w.boxOf[heldKey(t)]+1)
	}
	body.i32(0).with(opGlobalSet, w.raised)
	var locals []ValType
	if slices.Contains(t.Params, V128) {
		locals = held
		body.join(t.Params, held)
	}
	return w.addWith(name, FuncType{[]ValType{I32}, t.Params}, locals, &body)
}

// join makes vectors of their halves: values of the types held are on the stack,
// and locals of those types come after the first.
func (c *code) join(types, held []ValType) {
	for i := len(held); i > 0; i-- {
		c.with(opLocalSet, uint32(i))
	}
	at := uint32(1)
	for _, t := range types {
		c.with(opLocalGet, at)
		if t == V128 {
			at++
			c.with(opSIMD, simdSplat).with(opLocalGet, at).with(opSIMD, simdReplace).op(1)
		}
		at++
	}
}

// discarder is the function that ends the exception under way.
func (w *writer) discarder() uint32 {
	if i, known := w.helperOf[HostDiscard]; known {
		return i
	}
	var body code
	body.with(opGlobalGet, w.raised).i32(0).op(opI32LtS, opIf, blockEmpty).with(opCall, w.hosts+hostDiscard).op(opEnd)
	body.i32(0).with(opGlobalSet, w.raised)
	return w.add(HostDiscard, FuncType{}, &body)
}
