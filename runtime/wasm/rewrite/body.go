package rewrite

import (
	"github.com/pages-toolchain/pages/runtime/wasmbinary"
	"github.com/pages-toolchain/pages/runtime/wasmbinary/op"
)

const (
	// frameCost and localCost are the bytes of stack that a function is charged, and more for each local.
	frameCost = 64
	localCost = 8
	// shortBody is the maximum number of bytes of a function without calls and loops that is not counted.
	shortBody = 128
	// Loops and calls are charged 1, and more in long functions.
	bytesPerFuel = 1024
	// Bulk operations are charged by the bytes, or elements, that they move.
	bulkShift     = 8
	elementsShift = 4
	// maxBlocks is the maximum number of blocks of a function with exceptions.
	maxBlocks = 20_000
	// maxBranching is the limit of the sum of the squares of the functions' blocks and branches: wazero takes some 20 ns for each. The
	// largest tested module of npm, lightningcss, has a tenth of it.
	maxBranching = 20_000_000_000
)

// rewriter rewrites one function.
type rewriter struct {
	*writer
	r       *wasmbinary.Reader
	out     code
	locals  int    // of the original, parameters included
	spare   uint32 // an i32 local of our own
	depth   int    // of blocks
	calls   bool
	frame   int32
	perLoop int32

	// State of a function that may end with an exception (exception.go).
	raises   bool
	results  []wasmbinary.ValType
	tries    []try // in the order in which they begin, that are not written yet
	blocks   []int // that are open while it is surveyed: positions in tries, or -1
	handlers int   // that are open then
	held     int   // number of handlers whose caught exceptions are kept at once
	frames   []frame
	nest     uint32 // blocks of the rewritten function that are open
	opened   int    // blocks that it has so far
}

// addReferred finds the functions that ref.func names, and whether there are exceptions. Faults are reported when the
// function is rewritten.
func (w *writer) addReferred(body *wasmbinary.Reader, t wasmbinary.FuncType, add func(int)) {
	x := &rewriter{writer: w, r: &wasmbinary.Reader{Bytes: body.Bytes, From: body.From}, locals: len(t.Params)}
	x.readLocals()
	x.each(func(opcode byte, in instr) {
		if opcode == op.RefFunc {
			add(int(in.index))
		}
		switch opcode {
		case op.Try, op.Catch, op.CatchAll, op.Rethrow, op.Delegate:
			w.legacy = true
		case op.TryTable, op.ThrowRef:
			w.standard = true
		}
		w.made.Throws = w.made.Throws || isException(opcode) || isTyped(opcode) && x.r.Bytes[x.r.At-1] == byte(wasmbinary.Exnref)
	})
}

// function is body in its rewritten form.
func (w *writer) function(body *wasmbinary.Reader, t wasmbinary.FuncType) (code, error) {
	x := &rewriter{
		writer: w, r: &wasmbinary.Reader{Bytes: body.Bytes, From: body.From}, locals: len(t.Params),
		perLoop: 1 + int32(len(body.Bytes)/bytesPerFuel),
	}
	decls := x.readLocals()
	start := x.r.At
	x.spare, x.results = uint32(x.locals), t.Results
	loops, branches := false, 0
	x.each(func(opcode byte, in instr) {
		if isBranch(opcode) {
			branches++
		}
		x.calls = x.calls || opcode == op.Call || opcode == op.CallIndirect || opcode == op.ReturnCall || opcode == op.ReturnTable
		loops = loops || opcode == op.Loop
		if x.made.Throws {
			x.survey(opcode, in)
		}
	})
	extra := 1 // i32 locals of our own: spare, two for each handler that may rethrow, and two that are used at once
	if x.raises {
		extra = 3 + 2*x.held
	}
	if x.locals+extra > wasmbinary.MaxLocals+3 {
		x.r.Fail("more than %d locals", wasmbinary.MaxLocals)
	}
	if w.branching += branches * branches; w.branching > maxBranching {
		x.r.Fail("compiling would take many minutes, by the square of the blocks and branches of each function; %d are in "+
			"this one: split functions of this length", branches)
	}
	if x.r.Err != nil {
		return nil, x.r.Err
	}
	x.frame = frameCost + localCost*int32(x.locals+extra-1)
	decls.next().u32(uint32(extra)).op(byte(wasmbinary.I32))
	x.out.u32(decls.n).op(decls.body...)
	x.r.At = start
	x.enter(len(body.Bytes))
	if x.raises { // the first frame ends the blocks
		x.nest = 1 // enter's block
		x.open(op.Block, empty)
		x.open(op.Block, x.resultBlock())
		x.frames = append(x.frames, frame{op: op.Return, landing: 1})
		x.each(x.lower)
	} else {
		x.each(x.instruction)
	}
	if x.calls {
		x.releaseAllCaught()
		x.releaseFrame()
		x.out.op(op.End)
	}
	return x.out, x.r.Err
}

// isBranch reports whether an instruction begins a block of machine code.
func isBranch(opcode byte) bool {
	switch opcode {
	case op.Block, op.Loop, op.If, op.Else, op.Try, op.Catch, op.CatchAll, op.TryTable, op.Br, op.BrIf, op.BrTable:
		return true
	}
	return false
}

func (x *rewriter) readLocals() (decls list) {
	x.r.Each(wasmbinary.MaxLocals, "groups of locals", func() {
		n := x.r.U32()
		if int64(x.locals)+int64(n) > wasmbinary.MaxLocals {
			x.r.Fail("more than %d locals", wasmbinary.MaxLocals)
			return
		}
		x.locals += int(n)
		decls.next().u32(n).op(wireType(wasmbinary.ReadType(x.r)))
	})
	return decls
}

// enter takes the function's frame off the stack counter, and counts the call. The body becomes a block, so that every way
// out passes the end of the function.
func (x *rewriter) enter(size int) {
	c := &x.out
	if x.calls {
		c.with(op.GlobalGet, x.stack).i32(x.frame).with(op.I32Sub).with(op.LocalTee, x.spare).with(op.GlobalSet, x.stack)
		c.with(op.LocalGet, x.spare).i32(0).op(op.I32LtS, op.If, op.BlockEmpty).with(op.Call, hostOverflow).op(op.End)
	}
	if x.calls || size > shortBody {
		x.charge(x.perLoop)
	}
	if x.calls {
		x.open(op.Block, x.resultBlock())
	}
}

// resultBlock returns the type of blocks with the function's results.
func (x *rewriter) resultBlock() int64 {
	switch len(x.results) {
	case 0:
		return empty
	case 1:
		return int64(x.results[0]) - 0x80
	default:
		return int64(x.typeIndex(wasmbinary.FuncType{Results: x.results}))
	}
}

func (x *rewriter) releaseFrame() {
	x.out.with(op.GlobalGet, x.stack).i32(x.frame).op(op.I32Add).with(op.GlobalSet, x.stack)
}

// charge takes n off the fuel counter.
func (x *rewriter) charge(n int32) {
	x.out.with(op.GlobalGet, x.fuel).i32(n)
	x.subtractFuel()
}

// chargeBulk takes the number on the top of the stack, shifted, off the counter, and leaves it there.
func (x *rewriter) chargeBulk(shift int32) {
	x.out.with(op.LocalTee, x.spare).with(op.GlobalGet, x.fuel).with(op.LocalGet, x.spare).i32(shift).op(op.I32ShrU)
	x.subtractFuel()
}

func (x *rewriter) subtractFuel() {
	c := x.out.op(op.I32Sub).with(op.LocalTee, x.spare).with(op.GlobalSet, x.fuel).with(op.LocalGet, x.spare)
	c.i32(0).op(op.I32LeS, op.If, op.BlockEmpty).with(op.Call, hostInterrupt).i32(Period).with(op.GlobalSet, x.fuel).op(op.End)
}

// instr is the place of an instruction, and its immediates.
type instr struct {
	start int
	sub   uint32 // of the 0xfc family
	index uint32
	other uint32
	block int64 // the type of a block
}

// each reads the instructions of the body and calls do after each.
func (x *rewriter) each(do func(opcode byte, in instr)) {
	x.depth = 0
	for x.r.More() {
		in := instr{start: x.r.At}
		opcode := x.r.Byte()
		x.read(opcode, &in)
		if x.r.Err != nil {
			return
		}
		do(opcode, in)
		switch opcode {
		case op.Block, op.Loop, op.If, op.Try, op.TryTable:
			x.depth++
		case op.End, op.Delegate:
			if x.depth--; x.depth < 0 && x.r.More() {
				x.r.Fail("instructions after the end of a function")
			}
		}
	}
	if x.r.Err == nil && x.depth >= 0 {
		x.r.Fail("a function has no end")
	}
}

// read reads the immediates of an instruction. Indices must be of the original: the module must not use added ones.
func (x *rewriter) read(opcode byte, in *instr) {
	r := x.r
	switch opcode {
	case op.Block, op.Loop, op.If, op.Try, op.TryTable:
		if in.block = r.BlockType(); in.block >= int64(len(x.Types)) {
			r.Fail("type %d does not exist", in.block)
		}
		if opcode == op.TryTable {
			x.readClauses()
		}
	case op.Catch, op.Throw:
		in.index = r.Index(len(x.Tags), "tag")
	case op.Delegate:
		in.index = r.Index(x.depth, "label")
	case op.ThrowRef, op.CatchAll:
	case op.Br, op.BrIf, op.Rethrow:
		in.index = r.Index(x.depth+1, "label")
	case op.BrTable:
		r.Each(wasmbinary.MaxBodyBytes, "labels", func() { r.Index(x.depth+1, "label") })
		r.Index(x.depth+1, "label")
	case op.Call, op.ReturnCall, op.RefFunc:
		in.index = r.Index(len(x.Funcs), "function")
	case op.CallIndirect, op.ReturnTable:
		r.Index(len(x.Types), "type")
		r.Index(len(x.Tables), "table")
	case op.LocalGet, op.LocalSet, op.LocalTee:
		r.Index(x.locals, "local")
	case op.GlobalGet:
		in.index = r.Index(len(x.Globals), "global")
	case op.GlobalSet:
		in.index = r.Index(len(x.Globals), "global")
		if r.Err == nil && !x.Globals[in.index].Mutable {
			r.Fail("global %d cannot be set: it is immutable", in.index)
		}
	case op.TableGet, op.TableSet:
		r.Index(len(x.Tables), "table")
	case op.Misc:
		x.readMisc(in)
	default:
		r.Skip(opcode)
	}
}

func (x *rewriter) readClauses() {
	r := x.r
	r.Each(wasmbinary.MaxBodyBytes, "clauses", func() {
		kind := r.Byte()
		if kind > clauseAll|clauseRef {
			r.Fail("a clause of the kind %d", kind)
		}
		if kind&clauseAll == 0 {
			r.Index(len(x.Tags), "tag")
		}
		r.Index(x.depth+1, "label")
	})
}

func (x *rewriter) readMisc(in *instr) {
	r := x.r
	switch in.sub = r.U32(); in.sub {
	case 0, 1, 2, 3, 4, 5, 6, 7:
	case op.MiscMemoryInit:
		in.index = r.Index(len(x.Data), "data segment")
		r.MemoryIndex()
	case op.MiscDataDrop:
		in.index = r.Index(len(x.Data), "data segment")
	case op.MiscMemoryCopy:
		r.MemoryIndex()
		r.MemoryIndex()
	case op.MiscMemoryFill:
		r.MemoryIndex()
	case op.MiscTableInit:
		in.index = r.Index(len(x.Segments), "element segment")
		in.other = r.Index(len(x.Tables), "table")
	case op.MiscElemDrop:
		in.index = r.Index(len(x.Segments), "element segment")
	case op.MiscTableCopy:
		r.Index(len(x.Tables), "table")
		r.Index(len(x.Tables), "table")
	case op.MiscTableGrow, op.MiscTableSize, op.MiscTableFill:
		in.index = r.Index(len(x.Tables), "table")
	default:
		r.UnknownMisc(in.sub)
	}
}

// instruction writes one instruction.
func (x *rewriter) instruction(opcode byte, in instr) {
	c := &x.out
	switch opcode {
	case op.Call:
		c.with(opcode, in.index+x.shift)
	case op.ReturnCall:
		x.releaseFrame()
		c.with(opcode, in.index+x.shift)
	case op.ReturnTable:
		x.releaseFrame()
		x.copy(in)
	case op.Return:
		if x.calls {
			c.with(op.Br, uint32(x.depth))
		} else {
			c.op(opcode)
		}
	case op.RefFunc:
		c.i32(int32(x.position(in.index))).with(op.TableGet, x.refs)
	case op.GlobalGet, op.GlobalSet:
		c.with(opcode, x.global(in.index))
	case op.Loop:
		x.copyTyped(in)
		x.charge(x.perLoop)
	case op.Block, op.If, op.SelectTyped, op.RefNull:
		x.copyTyped(in)
	case op.Misc:
		x.misc(in)
	default:
		x.copy(in)
	}
}

func (x *rewriter) copy(in instr) { x.out.op(x.r.Bytes[in.start:x.r.At]...) }

func (x *rewriter) misc(in instr) {
	c := &x.out
	switch in.sub {
	case op.MiscMemoryInit, op.MiscMemoryCopy, op.MiscMemoryFill:
		x.chargeBulk(bulkShift)
		x.copy(in)
	case op.MiscTableCopy, op.MiscTableFill:
		x.chargeBulk(elementsShift)
		x.copy(in)
	case op.MiscTableInit:
		x.chargeBulk(elementsShift)
		c.with(op.Call, x.tableInit(in.index, in.other))
	case op.MiscElemDrop:
		c.i32(1).with(op.GlobalSet, x.droppedFlag(in.index))
	case op.MiscTableGrow:
		c.with(op.Call, x.helper(PrefixGrow, in.index))
	default:
		x.copy(in)
	}
}

// position returns the position of function i in the hidden table.
func (w *writer) position(i uint32) int {
	if w.positions == nil {
		w.positions = map[int]int{}
		for at, fn := range w.made.Refs {
			if _, known := w.positions[fn]; !known {
				w.positions[fn] = at
			}
		}
	}
	return w.positions[int(i)]
}
