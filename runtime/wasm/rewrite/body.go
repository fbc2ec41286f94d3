package rewrite

// This file rewrites function bodies.

const (
	// A function is charged stack for its frame: so much, and for each local.
	frameCost = 64
	localCost = 8
	// A function this short that calls nothing and never loops is not counted.
	shortBody = 128
	// Loops and calls are charged 1, and more in long functions.
	bytesPerFuel = 1024
	// Bulk operations are charged by what they move: bytes, or elements.
	bulkShift     = 8
	elementsShift = 4
)

// rewriter rewrites one function.
type rewriter struct {
	*writer
	r       *reader
	out     code
	locals  int    // of the original, parameters included
	spare   uint32 // an i32 local of our own
	depth   int    // of blocks
	calls   bool
	frame   int32
	perLoop int32

	// Of a function that may end with an exception (exception.go).
	raises   bool
	results  []ValType
	tries    []try // in the order in which they begin, that are not written yet
	blocks   []int // that are open while it is surveyed: positions in tries, or -1
	handlers int   // that are open then
	held     int   // of what so many handlers caught is kept at once
	frames   []frame
	nest     uint32 // blocks of the rewritten function that are open
	opened   int    // blocks that it has so far
}

// addReferred finds the functions that ref.func names, and whether there are
// exceptions. Faults are found when the function is rewritten.
func (w *writer) addReferred(body *reader, t FuncType, add func(int)) {
	x := &rewriter{writer: w, r: &reader{b: body.b, from: body.from}, locals: len(t.Params)}
	x.readLocals()
	x.each(func(op byte, in instr) {
		if op == opRefFunc {
			add(int(in.index))
		}
		switch op {
		case opTry, opCatch, opCatchAll, opRethrow, opDelegate:
			w.legacy = true
		case opTryTable, opThrowRef:
			w.standard = true
		}
		w.Throws = w.Throws || isException(op) || isTyped(op) && x.r.b[x.r.at-1] == byte(Exnref)
	})
}

// function is body in its rewritten form.
func (w *writer) function(body *reader, t FuncType) (code, error) {
	x := &rewriter{writer: w, r: &reader{b: body.b, from: body.from}, locals: len(t.Params), perLoop: 1 + int32(len(body.b)/bytesPerFuel)}
	decls := x.readLocals()
	start := x.r.at
	x.spare, x.results = uint32(x.locals), t.Results
	loops, branches := false, 0
	x.each(func(op byte, in instr) {
		if isBranch(op) {
			branches++
		}
		x.calls = x.calls || op == opCall || op == opCallIndirect || op == opReturnCall || op == opReturnTable
		loops = loops || op == opLoop
		if x.Throws {
			x.survey(op, in)
		}
	})
	extra := x.extra()
	if x.locals+extra > maxLocals+3 {
		x.r.fail("more than %d locals", maxLocals)
	}
	if w.branching += branches * branches; w.branching > maxBranching {
		x.r.fail("compiling would take many minutes, by the square of the blocks and branches of each function; %d are in this one: split what is as long", branches)
	}
	if x.r.err != nil {
		return nil, x.r.err
	}
	x.frame = frameCost + localCost*int32(x.locals+extra-1)
	decls.next().u32(uint32(extra)).op(byte(I32))
	x.out.u32(decls.n).op(decls.body...)
	x.r.at = start
	x.enter(len(body.b))
	if x.raises {
		x.begin(x.resultBlock())
		x.each(x.lower)
	} else {
		x.each(x.instruction)
	}
	x.leave()
	return x.out, x.r.err
}

// isBranch reports whether an instruction begins a block of machine code.
func isBranch(op byte) bool {
	switch op {
	case opBlock, opLoop, opIf, opElse, opTry, opCatch, opCatchAll, opTryTable, opBr, opBrIf, opBrTable:
		return true
	}
	return false
}

func (x *rewriter) readLocals() (decls list) {
	x.r.each(maxLocals, "groups of locals", func() {
		n := x.r.u32()
		if int64(x.locals)+int64(n) > maxLocals {
			x.r.fail("more than %d locals", maxLocals)
			return
		}
		x.locals += int(n)
		decls.next().u32(n).op(wire(readType(x.r)))
	})
	return decls
}

// enter takes the function's frame off the stack counter, and counts the call.
// The body becomes a block, so that every way out passes leave.
func (x *rewriter) enter(size int) {
	c := &x.out
	if x.calls {
		c.with(opGlobalGet, x.stack).i32(x.frame).with(opI32Sub).with(opLocalTee, x.spare).with(opGlobalSet, x.stack)
		c.with(opLocalGet, x.spare).i32(0).op(opI32LtS, opIf, blockEmpty).with(opCall, hostOverflow).op(opEnd)
	}
	if x.calls || size > shortBody {
		x.charge(x.perLoop)
	}
	if !x.calls {
		return
	}
	x.open(opBlock, x.resultBlock())
}

// resultBlock is the type of blocks that give what the function does.
func (x *rewriter) resultBlock() int64 {
	switch len(x.results) {
	case 0:
		return empty
	case 1:
		return int64(x.results[0]) - 0x80
	default:
		return int64(x.typeIndex(FuncType{Results: x.results}))
	}
}

func (x *rewriter) leave() {
	if !x.calls {
		return
	}
	x.letAllGo()
	x.giveFrame()
	x.out.op(opEnd)
}

func (x *rewriter) giveFrame() {
	x.out.with(opGlobalGet, x.stack).i32(x.frame).op(opI32Add).with(opGlobalSet, x.stack)
}

// charge takes n off the fuel counter.
func (x *rewriter) charge(n int32) {
	x.out.with(opGlobalGet, x.fuel).i32(n)
	x.burn()
}

// chargeBulk takes the number on the top of the stack, shifted, off the counter,
// and leaves it there.
func (x *rewriter) chargeBulk(shift int32) {
	x.out.with(opLocalTee, x.spare).with(opGlobalGet, x.fuel).with(opLocalGet, x.spare).i32(shift).op(opI32ShrU)
	x.burn()
}

func (x *rewriter) burn() {
	c := x.out.op(opI32Sub).with(opLocalTee, x.spare).with(opGlobalSet, x.fuel).with(opLocalGet, x.spare)
	c.i32(0).op(opI32LeS, opIf, blockEmpty).with(opCall, hostInterrupt).i32(Period).with(opGlobalSet, x.fuel).op(opEnd)
}

// instr is where an instruction stands, and its first index, if it has one.
type instr struct {
	start int
	sub   uint32 // of the 0xfc family
	index uint32
	other uint32
	block int64 // the type of a block
}

// each reads the instructions of the body and calls do after each.
func (x *rewriter) each(do func(op byte, in instr)) {
	x.depth = 0
	for x.r.more() {
		in := instr{start: x.r.at}
		op := x.r.byte()
		x.read(op, &in)
		if x.r.err != nil {
			return
		}
		do(op, in)
		switch op {
		case opBlock, opLoop, opIf, opTry, opTryTable:
			x.depth++
		case opEnd, opDelegate:
			if x.depth--; x.depth < 0 && x.r.more() {
				x.r.fail("instructions after the end of a function")
			}
		}
	}
	if x.r.err == nil && x.depth >= 0 {
		x.r.fail("a function has no end")
	}
}

// read steps over the immediates of op. Indices must be of the original: those of
// what is added are not the module's to use.
func (x *rewriter) read(op byte, in *instr) {
	r := x.r
	switch op {
	case opBlock, opLoop, opIf, opTry, opTryTable:
		if in.block = r.signed(33); in.block >= int64(len(x.Types)) {
			r.fail("type %d does not exist", in.block)
		}
		if op == opTryTable {
			x.readClauses()
		}
	case opCatch, opThrow:
		in.index = r.below(len(x.Tags), "tag")
	case opDelegate:
		in.index = r.below(x.depth, "label")
	case opThrowRef, opCatchAll:
	case opBr, opBrIf, opRethrow:
		in.index = r.below(x.depth+1, "label")
	case opBrTable:
		r.each(maxBodyBytes, "labels", func() { r.below(x.depth+1, "label") })
		r.below(x.depth+1, "label")
	case opCall, opReturnCall, opRefFunc:
		in.index = r.below(len(x.Funcs), "function")
	case opCallIndirect, opReturnTable:
		r.below(len(x.Types), "type")
		r.below(len(x.Tables), "table")
	case opLocalGet, opLocalSet, opLocalTee:
		r.below(x.locals, "local")
	case opGlobalGet:
		in.index = r.below(len(x.Globals), "global")
	case opGlobalSet:
		in.index = r.below(len(x.Globals), "global")
		if r.err == nil && !x.Globals[in.index].Mutable {
			r.fail("global %d cannot be set: it is immutable", in.index)
		}
	case opTableGet, opTableSet:
		r.below(len(x.Tables), "table")
	case opMisc:
		x.readMisc(in)
	default:
		r.skip(op)
	}
}

func (x *rewriter) readClauses() {
	r := x.r
	r.each(maxBodyBytes, "clauses", func() {
		kind := r.byte()
		if kind > clauseAll|clauseRef {
			r.fail("a clause of the kind %d", kind)
		}
		if kind&clauseAll == 0 {
			r.below(len(x.Tags), "tag")
		}
		r.below(x.depth+1, "label")
	})
}

func (x *rewriter) readMisc(in *instr) {
	r := x.r
	switch in.sub = r.u32(); in.sub {
	case 0, 1, 2, 3, 4, 5, 6, 7:
	case miscMemoryInit:
		in.index = r.below(len(x.data), "data segment")
		r.byte()
	case miscDataDrop:
		in.index = r.below(len(x.data), "data segment")
	case miscMemoryCopy:
		r.byte()
		r.byte()
	case miscMemoryFill:
		r.byte()
	case miscTableInit:
		in.index = r.below(len(x.segments), "element segment")
		in.other = r.below(len(x.Tables), "table")
	case miscElemDrop:
		in.index = r.below(len(x.segments), "element segment")
	case miscTableCopy:
		r.below(len(x.Tables), "table")
		r.below(len(x.Tables), "table")
	case miscTableGrow, miscTableSize, miscTableFill:
		in.index = r.below(len(x.Tables), "table")
	default:
		r.fail("the instruction 0xfc %#x is not supported", in.sub)
	}
}

// instruction writes one instruction.
func (x *rewriter) instruction(op byte, in instr) {
	c := &x.out
	switch op {
	case opCall:
		c.with(op, in.index+x.shift)
	case opReturnCall:
		x.giveFrame()
		c.with(op, in.index+x.shift)
	case opReturnTable:
		x.giveFrame()
		x.copy(in)
	case opReturn:
		if x.calls {
			c.with(opBr, uint32(x.depth))
		} else {
			c.op(op)
		}
	case opRefFunc:
		c.i32(int32(x.position(in.index))).with(opTableGet, x.refs)
	case opGlobalGet, opGlobalSet:
		c.with(op, x.global(in.index))
	case opLoop:
		x.copyTyped(in)
		x.charge(x.perLoop)
	case opBlock, opIf, opSelectTyped, opRefNull:
		x.copyTyped(in)
	case opMisc:
		x.misc(in)
	default:
		x.copy(in)
	}
}

func (x *rewriter) copy(in instr) { x.out.op(x.r.b[in.start:x.r.at]...) }

func (x *rewriter) misc(in instr) {
	c := &x.out
	switch in.sub {
	case miscMemoryInit, miscMemoryCopy, miscMemoryFill:
		x.chargeBulk(bulkShift)
		x.copy(in)
	case miscTableCopy, miscTableFill:
		x.chargeBulk(elementsShift)
		x.copy(in)
	case miscTableInit:
		x.chargeBulk(elementsShift)
		c.with(opCall, x.tableInit(in.index, in.other))
	case miscElemDrop:
		c.i32(1).with(opGlobalSet, x.droppedFlag(in.index))
	case miscTableGrow:
		c.with(opCall, x.helper(PrefixGrow, in.index))
	default:
		x.copy(in)
	}
}

// position is where function i stands in the hidden table.
func (w *writer) position(i uint32) int {
	if w.positions == nil {
		w.positions = map[int]int{}
		for at, fn := range w.Refs {
			if _, known := w.positions[fn]; !known {
				w.positions[fn] = at
			}
		}
	}
	return w.positions[int(i)]
}
