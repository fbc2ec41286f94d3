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
	if x.opened++; x.opened == maxBlocks+1 {
		x.r.fail("more than %d blocks in a function that throws or catches", maxBlocks)
	}
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
