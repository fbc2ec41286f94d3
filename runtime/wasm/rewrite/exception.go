package rewrite

import (
	"math"
	"slices"

	"github.com/pages-toolchain/pages/runtime/wasmbinary"
	"github.com/pages-toolchain/pages/runtime/wasmbinary/op"
)

// This file turns exceptions into branches.
//
// The current exception is in two globals of the host: see HostRaised. After each call that may have raised one, and
// after each throw, code branches to a landing:
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
//	  HANDLER                      ;; its payload
//	                               HANDLER
//	                             end
//	                             br 1
//	                           end
//	                           br …              ;; to the landing around
//	end                      end
//
// The landing of a function's body is before its end: it returns zeros, and the caller checks HostRaised. Calls of functions
// that raise nothing stay unchanged. A trap unwinds in the host.

// frame is a block of the original that is open.
type frame struct {
	op      byte // opBlock and opLoop catch nothing; else opTry, opTryTable or the clause that is open
	at      uint32
	landing uint32 // for exceptions raised in it
	outer   uint32 // the target of exceptions that no clause catches
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

// isTyped reports whether opcode may name a type of references.
func isTyped(opcode byte) bool {
	switch opcode {
	case op.Block, op.Loop, op.If, op.SelectTyped, op.RefNull:
		return true
	}
	return false
}

// wireType returns the type that replaces t in the rewritten module.
func wireType(t wasmbinary.ValType) byte {
	if t == wasmbinary.Exnref {
		t = wasmbinary.Externref
	}
	return byte(t)
}

// copyTyped copies an instruction for which isTyped is true.
func (x *rewriter) copyTyped(in instr) {
	x.copy(in)
	if last := len(x.out) - 1; x.out[last] == byte(wasmbinary.Exnref) {
		x.out[last] = byte(wasmbinary.Externref)
	}
}

// caughtLocals returns the first of the two locals for the exception that a handler of a level caught.
func (x *rewriter) caughtLocals(level int) uint32 { return x.spare + 1 + 2*uint32(level) }

// open begins a block of the rewritten function.
func (x *rewriter) open(opcode byte, block int64) {
	x.out.op(opcode)
	if block >= 0 {
		x.out.s64(block)
	} else {
		x.out.op(wireType(wasmbinary.ValType(block & 0x7f)))
	}
	x.nest++
	if x.opened++; x.opened == maxBlocks+1 {
		x.r.Fail("more than %d blocks in a function that throws or catches", maxBlocks)
	}
}

func (x *rewriter) end() {
	x.out.op(op.End)
	x.nest--
}

// empty is the type of blocks without parameters and results.
const empty = op.BlockEmpty - 0x80

// inputBlock returns the type of blocks with the parameters of the type block.
func (x *rewriter) inputBlock(block int64) int64 {
	if block < 0 || len(x.Types[block].Params) == 0 {
		return empty
	}
	return x.deriveType(block, 0, wasmbinary.FuncType{Params: x.Types[block].Params})
}

// outputBlock returns the type of blocks with the results of the type block.
func (x *rewriter) outputBlock(block int64) int64 {
	if block < 0 || len(x.Types[block].Params) == 0 {
		return block
	}
	return x.deriveType(block, 1, wasmbinary.FuncType{Results: x.Types[block].Results})
}

func (w *writer) deriveType(block int64, which int, t wasmbinary.FuncType) int64 {
	key := 2*block + int64(which)
	i, known := w.blocks[key]
	if !known {
		i = int64(w.typeIndex(t))
		w.blocks[key] = i
	}
	return i
}

// label returns the operand of a branch to the label at, counted from outside.
func (x *rewriter) label(at uint32) uint32 { return x.nest - 1 - at }

func (x *rewriter) branch(at uint32) { x.out.with(op.Br, x.label(at)) }

// target returns the label that the original names i.
func (x *rewriter) target(i uint32) uint32 { return x.frames[len(x.frames)-1-int(i)].at }

func (x *rewriter) landing() uint32 { return x.frames[len(x.frames)-1].landing }

// lower writes one instruction of a function that raises.
func (x *rewriter) lower(opcode byte, in instr) {
	c := &x.out
	switch opcode {
	case op.Block, op.Loop, op.If:
		f := frame{op: op.Block, at: x.nest, landing: x.landing(), block: in.block}
		x.open(opcode, in.block)
		if opcode == op.Loop {
			f.op = op.Loop
			x.charge(x.perLoop)
		}
		x.frames = append(x.frames, f)
	case op.Try:
		x.openTry(in)
	case op.TryTable:
		x.openTable(in)
	case op.Catch, op.CatchAll:
		x.openClause(opcode, in)
	case op.End, op.Delegate:
		x.close()
	case op.Throw:
		c.with(op.GlobalGet, x.tag(in.index)).with(op.Call, x.raiseFunction(x.Types[x.Tags[in.index]]))
		x.branch(x.landing())
	case op.Rethrow:
		x.rethrow(&x.frames[len(x.frames)-1-int(in.index)])
	case op.ThrowRef:
		c.with(op.Call, x.hosts+hostThrow)
		x.branch(x.landing())
	case op.Br, op.BrIf:
		c.with(opcode, x.label(x.target(in.index)))
	case op.BrTable:
		r := &wasmbinary.Reader{Bytes: x.r.Bytes, At: in.start + 1}
		n := r.U32()
		c.with(op.BrTable, n)
		for range n + 1 {
			c.u32(x.label(x.target(r.U32())))
		}
	case op.Return:
		x.branch(0)
	case op.Call:
		x.instruction(opcode, in)
		if x.raising[in.index] {
			x.checkRaised()
		}
	case op.CallIndirect:
		x.copy(in)
		x.checkRaised()
	case op.ReturnCall, op.ReturnTable:
		x.releaseAllCaught()
		x.instruction(opcode, in)
	default:
		x.instruction(opcode, in)
	}
}

// checkRaised goes to the landing if the call before raised.
func (x *rewriter) checkRaised() {
	x.out.with(op.GlobalGet, x.raised).with(op.BrIf, x.label(x.landing()))
}

func (x *rewriter) openTry(in instr) {
	t := &x.tries[0]
	x.tries = x.tries[1:]
	f := frame{op: op.Block, at: x.nest, landing: x.landing(), outer: x.landing(), block: in.block, try: t}
	if t.delegates {
		f.landing = x.frames[len(x.frames)-1-int(t.target)].landing
	}
	x.open(op.Block, in.block)
	if t.clauses > 0 {
		f.op = op.Try
		x.openBody(&f)
	}
	x.frames = append(x.frames, f)
}

func (x *rewriter) openBody(f *frame) {
	f.landing = x.nest
	x.open(op.Block, x.inputBlock(f.block))
	x.open(op.Block, f.block)
}

func (x *rewriter) openTable(in instr) {
	f := frame{op: op.TryTable, at: x.nest, outer: x.landing(), block: in.block}
	r := &wasmbinary.Reader{Bytes: x.r.Bytes, At: in.start + 1}
	r.Signed(33)
	for range r.U32() {
		k := clause{kind: r.Byte()}
		if k.kind&clauseAll == 0 {
			k.tag = r.U32()
		}
		label := r.U32()
		k.to = x.target(label)
		x.checkClause(k, &x.frames[len(x.frames)-1-int(label)])
		f.clauses = append(f.clauses, k)
	}
	x.open(op.Block, in.block)
	x.openBody(&f)
	x.frames = append(x.frames, f)
}

// checkClause compares the values of a clause with the types of its label. In the rewritten code only missing values would
// be an error.
func (x *rewriter) checkClause(k clause, to *frame) {
	var gives, takes []wasmbinary.ValType
	if k.kind&clauseAll == 0 {
		gives = x.Types[x.Tags[k.tag]].Params
	}
	if k.kind&clauseRef != 0 {
		gives = append(slices.Clip(gives), wasmbinary.Exnref)
	}
	switch {
	case to.op == op.Return:
		takes = x.results
	case to.block >= 0 && to.op == op.Loop:
		takes = x.Types[to.block].Params
	case to.block >= 0:
		takes = x.Types[to.block].Results
	case to.block != empty && to.op != op.Loop:
		takes = []wasmbinary.ValType{wasmbinary.ValType(to.block & 0x7f)}
	}
	if !slices.Equal(gives, takes) {
		x.r.Fail("type mismatch: a clause's label takes other values than the clause gives")
	}
}

// openClause ends the body or handler before, and begins a handler.
func (x *rewriter) openClause(opcode byte, in instr) {
	f := &x.frames[len(x.frames)-1]
	x.closePart(f)
	f.op, f.landing = opcode, f.outer
	if opcode == op.Catch {
		x.open(op.Block, empty)
		x.match(in.index)
		x.out.op(op.I32Eqz).with(op.BrIf, 0)
		x.open(op.Block, x.outputBlock(f.block))
	}
	if f.try.rethrown {
		x.releaseCaught(f.try.level)
		x.storeCaught(x.caughtLocals(f.try.level))
	}
	switch {
	case opcode == op.Catch:
		x.pushPayload(in.index, f.try.rethrown)
	case f.try.rethrown:
		x.out.i32(0).with(op.GlobalSet, x.raised)
	default:
		x.out.with(op.Call, x.discardFunction())
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
	case op.Return:
		x.closePart(f)
		for _, t := range x.results { // a function that raised returns zeros
			x.out.value(t, 0, wireType(t))
		}
	case op.Catch:
		x.closePart(f)
		x.branch(f.outer)
	case op.TryTable:
		x.closePart(f)
		for _, k := range f.clauses {
			x.dispatch(k)
		}
		x.branch(f.outer)
	}
	x.end()
	x.frames = x.frames[:len(x.frames)-1]
}

// match pushes whether the current exception has a tag.
func (x *rewriter) match(tag uint32) {
	x.out.with(op.GlobalGet, x.raised).i32(math.MaxInt32).op(op.I32And).with(op.GlobalGet, x.tag(tag)).op(op.I32Eq)
}

// storeCaught stores the current exception in two locals.
func (x *rewriter) storeCaught(local uint32) {
	x.out.with(op.GlobalGet, x.raised).with(op.LocalSet, local).with(op.GlobalGet, x.value).with(op.LocalSet, local+1)
}

// pushPayload ends the current exception, which has the tag, and pushes its payload.
func (x *rewriter) pushPayload(tag uint32, keep bool) {
	x.out.i32(int32(bit(keep))).with(op.Call, x.unboxFunction(x.Types[x.Tags[tag]]))
}

// dispatch writes a clause of a try_table, after its landing.
func (x *rewriter) dispatch(k clause) {
	c := &x.out
	if k.kind&clauseAll == 0 {
		x.match(k.tag)
		x.open(op.If, empty)
	}
	local := x.caughtLocals(x.held)
	if k.kind&clauseRef != 0 {
		x.storeCaught(local)
	}
	switch {
	case k.kind&clauseAll == 0:
		x.pushPayload(k.tag, k.kind&clauseRef != 0)
	case k.kind&clauseRef != 0:
		c.i32(0).with(op.GlobalSet, x.raised)
	default:
		c.with(op.Call, x.discardFunction())
	}
	if k.kind&clauseRef != 0 {
		c.with(op.LocalGet, local).with(op.LocalGet, local+1).with(op.Call, x.hosts+hostRef)
	}
	x.branch(k.to)
	if k.kind&clauseAll == 0 {
		x.end()
	}
}

// rethrow raises the exception that the open handler of f caught. It can be raised again while that handler is open.
func (x *rewriter) rethrow(f *frame) {
	local := x.caughtLocals(f.try.level)
	x.out.with(op.LocalGet, local).with(op.GlobalSet, x.raised).with(op.LocalGet, local+1).with(op.GlobalSet, x.value)
	if x.landing() > f.at {
		x.out.with(op.Call, x.hosts+hostKeep)
	} else {
		x.out.i32(0).with(op.LocalSet, local)
	}
	x.branch(x.landing())
}

// releaseCaught frees the exception of a handler of a level that ended without a rethrow.
func (x *rewriter) releaseCaught(level int) {
	local := x.caughtLocals(level)
	x.out.with(op.LocalGet, local).op(op.If, op.BlockEmpty).with(op.LocalGet, local).with(op.LocalGet, local+1)
	x.out.with(op.Call, x.hosts+hostRelease).op(op.End)
}

// releaseAllCaught is releaseCaught for all handlers, at the end of the function.
func (x *rewriter) releaseAllCaught() {
	for level := range x.held {
		x.releaseCaught(level)
	}
}

// tag is the global that holds a tag's number.
func (w *writer) tag(i uint32) uint32 { return w.self + 1 + i }
