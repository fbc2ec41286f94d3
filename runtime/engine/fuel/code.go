package fuel

import "fmt"

// The instructions the pass reads by name; all others it only steps over.
const (
	opBlock     = 0x02
	opLoop      = 0x03
	opIf        = 0x04
	opElse      = 0x05
	opEnd       = 0x0b
	opCall      = 0x10
	opDrop      = 0x1a
	opLocalGet  = 0x20
	opGlobalGet = 0x23
	opGlobalSet = 0x24
	opI32Const  = 0x41
	opI64Const  = 0x42
	opI32Eqz    = 0x45
	opI32LtU    = 0x49
	opI32Sub    = 0x6b
	opI32And    = 0x71
	opI32GtS    = 0x4a
	opI32ShrU   = 0x76
	opSelect    = 0x1b
	opPrefix    = 0xfc
	opI64ShrU   = 0x88
	opWrap      = 0xa7
	blockEmpty  = 0x40
)

// Instructions of the family opPrefix.
const (
	subMemoryCopy = 10
	subMemoryFill = 11
)

// moveShift makes loop iterations of bytes: 64 are moved in about the time of one.
const moveShift = 6

// probe is the code put at the head of each loop:
//
//	counter--; if counter <= 0 { host_interrupt(); counter = Period }
//
// The loop that runs bytecode has its two halves apart (interpreter.go).
//
// length is a global for the length of what an instruction moves.
type probe struct{ counter, length, interrupt uint32 }

// appendMove appends what goes before an instruction that moves as many bytes as
// the top of the stack says:
//
//	counter = max(counter - length>>moveShift, 1)
//
// The next head of a loop finds the counter used up.
func (p probe) appendMove(out []byte) []byte {
	cost := appendU32([]byte{opGlobalGet}, p.counter)
	cost = appendU32(append(cost, opGlobalGet), p.length)
	cost = append(appendS32(append(cost, opI32Const), moveShift), opI32ShrU)
	out = appendU32(append(out, opGlobalSet), p.length)
	out = append(append(out, cost...), opI32Sub)
	out = appendS32(append(out, opI32Const), 1)
	out = append(append(out, cost...), opI32GtS, opSelect)
	out = appendU32(append(out, opGlobalSet), p.counter)
	return appendU32(append(out, opGlobalGet), p.length)
}

func (p probe) append(out []byte) []byte { return p.appendAsk(p.appendCount(out)) }

// appendCount appends counter--.
func (p probe) appendCount(out []byte) []byte {
	out = appendU32(append(out, opGlobalGet), p.counter)
	out = append(appendS32(append(out, opI32Const), 1), opI32Sub)
	return appendU32(append(out, opGlobalSet), p.counter)
}

// appendAsk appends if counter <= 0 { host_interrupt(); counter = Period }.
func (p probe) appendAsk(out []byte) []byte {
	out = appendU32(append(out, opGlobalGet), p.counter)
	out = appendS32(append(out, opI32Const), 1)
	out = appendU32(append(out, opI32LtS, opIf, blockEmpty, opCall), p.interrupt)
	out = appendS32(append(out, opDrop, opI32Const), Period)
	out = appendU32(append(out, opGlobalSet), p.counter)
	return append(out, opEnd)
}

// instrumentCode puts the probe into every function and appends those of f.
func instrumentCode(body []byte, l layout, p probe, f *follower) ([]byte, error) {
	r := &reader{b: body}
	n := r.u32()
	var added [][]byte
	if f != nil {
		added = f.functions(p)
	}
	out := appendU32(nil, n+uint32(len(added)))
	reserved := reservedAddresses(l.data)
	for i := range n {
		code := r.vector()
		if len(reserved) > 0 && l.isClassAtom(int(i)) {
			code = inClassOnly(code, reserved)
		}
		if f != nil {
			code = f.corrected(l, int(i), code)
		}
		code, err := instrumentFunc(code, p, f)
		if r.err != nil {
			return nil, r.err
		}
		if err != nil {
			return nil, fmt.Errorf("function %d of the code section: %w", i, err)
		}
		out = appendU32(out, uint32(len(code)))
		out = append(out, code...)
	}
	for _, code := range added {
		out = appendU32(out, uint32(len(code)))
		out = append(out, code...)
	}
	return out, r.err
}

// corrected returns the code of function i of the module's own with what the other
// files of this package change in it.
func (f *follower) corrected(l layout, i int, code []byte) []byte {
	code = l.releasing(i, l.interpreting(spreadKeys(code)))
	if l.isComparer(i) {
		code = withSign(code)
	}
	if l.isDefiner(i) {
		code = refusingUnwritable(code)
	}
	if l.isCopier(i) {
		code = askingEach(code)
	}
	if l.isPattern(i) {
		code = l.placing(code)
	}
	if l.isPostfix(i) {
		code = withOwnArguments(code)
	}
	if l.isSkipper(i) {
		code = dividing(code)
	}
	switch {
	case l.imports.funcs+uint32(i) == f.then:
		return f.allocOwned(code)
	case i == f.date:
		return f.dateBody()
	case i == f.trampoline.function:
		return f.callBody()
	case i == f.searcher.exec:
		return f.searching(code)
	case i == f.mover.copying:
		return f.moving(code)
	case i == f.mover.deleting:
		return f.takingLast(code)
	case i == f.mover.arguing:
		return manyArguments(code)
	case i == f.texter.indexOf || i == f.texter.includes:
		return f.skipping(code, i == f.texter.includes)
	}
	return code
}

func instrumentFunc(code []byte, p probe, f *follower) ([]byte, error) {
	r := &reader{b: code}
	r.locals()
	out := make([]byte, 0, len(code)+len(code)/8)
	kept := 0
	bytecode := readInterpreter(code)
	for !r.done() && r.err == nil {
		op := r.byte()
		start := r.at
		r.immediates(op)
		switch op {
		case opLoop:
			out = bytecode.appendHead(append(out, code[kept:r.at]...), p, start-1)
			kept = r.at
		case opBr:
			if bytecode.turns[start-1] {
				out = p.appendAsk(append(out, code[kept:start-1]...))
				kept = start - 1
			}
		case opCall:
			callee := (&reader{b: code, at: start}).u32()
			if to := f.target(callee); to != callee {
				out = appendU32(append(out, code[kept:start]...), to)
				kept = r.at
			}
		case opPrefix:
			if sub := (&reader{b: code, at: start}).u32(); sub == subMemoryCopy || sub == subMemoryFill {
				out = f.appendMover(append(out, code[kept:start-1]...), p, code[start-1:r.at])
				kept = r.at
			}
		}
	}
	return append(out, code[kept:]...), r.err
}

// span is where an instruction lies in a body.
type span struct{ start, end int }

// instructions are those of a body; nil when one is unknown, of which the pass over all
// code tells.
func instructions(code []byte) (all []span) {
	r := &reader{b: code}
	r.locals()
	for !r.done() && r.err == nil {
		start := r.at
		r.immediates(r.byte())
		all = append(all, span{start, r.at})
	}
	if r.err != nil {
		return nil
	}
	return all
}

// locals steps over a function's declarations of locals.
func (r *reader) locals() {
	for n := r.u32(); n > 0 && r.err == nil; n-- {
		r.u32()
		r.byte()
	}
}

// immediates steps over what follows the opcode op.
func (r *reader) immediates(op byte) {
	switch {
	case op == opBlock, op == opLoop, op == opIf:
		r.s33()
	case op == opBr, op == opBrIf, op == opCall, op >= 0x20 && op <= 0x26, op == 0xd2:
		r.u32() // br, br_if, call, local.*, global.*, table.get/set, ref.func
	case op == opBrTable:
		for n := r.u32(); n > 0 && r.err == nil; n-- {
			r.u32()
		}
		r.u32()
	case op == 0x11: // call_indirect
		r.u32()
		r.u32()
	case op == 0x1c: // select with types
		r.skip(int(r.u32()))
	case op >= 0x28 && op <= 0x3e: // loads and stores
		r.u32()
		r.u32()
	case op == 0x3f, op == 0x40, op == 0xd0: // memory.size, memory.grow, ref.null
		r.byte()
	case op == opI32Const, op == 0x42:
		r.s33()
	case op == 0x43:
		r.skip(4)
	case op == 0x44:
		r.skip(8)
	case op == opPrefix:
		r.prefixed()
	case op <= 0x01, op == 0x05, op == opEnd, op == 0x0f, op == opDrop, op == opSelect,
		op >= opI32Eqz && op <= 0xc4, op == 0xd1:
		// no immediates
	default:
		r.fail("unknown instruction %#x", op)
	}
}

// prefixed steps over an instruction of the 0xfc family: saturating
// truncations, bulk memory and tables.
func (r *reader) prefixed() {
	switch sub := r.u32(); {
	case sub <= 7:
	case sub == 9, sub == 11, sub == 13, sub >= 15 && sub <= 17:
		r.u32()
	case sub == 8, sub == 10, sub == 12, sub == 14:
		r.u32()
		r.u32()
	default:
		r.fail("unknown instruction 0xfc %#x", sub)
	}
}
