package quickjspatch

import (
	"fmt"

	"github.com/pages-toolchain/pages/runtime/wasmbinary"
	"github.com/pages-toolchain/pages/runtime/wasmbinary/op"
)

// moveShift makes loop iterations of bytes: 64 are moved in about the time of one.
const moveShift = 6

// probe is the code put at the head of each loop:
//
//	counter--; if counter <= 0 { host_interrupt(); counter = Period }
//
// The loop that runs bytecode has its two halves in different places (interpreter.go).
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
	cost := op.AppendU32([]byte{op.GlobalGet}, p.counter)
	cost = op.AppendU32(append(cost, op.GlobalGet), p.length)
	cost = append(op.AppendS32(append(cost, op.I32Const), moveShift), op.I32ShrU)
	out = op.AppendU32(append(out, op.GlobalSet), p.length)
	out = append(append(out, cost...), op.I32Sub)
	out = op.AppendS32(append(out, op.I32Const), 1)
	out = append(append(out, cost...), op.I32GtS, op.Select)
	out = op.AppendU32(append(out, op.GlobalSet), p.counter)
	return op.AppendU32(append(out, op.GlobalGet), p.length)
}

func (p probe) appendProbe(out []byte) []byte { return p.appendAsk(p.appendCount(out)) }

// appendCount appends counter--.
func (p probe) appendCount(out []byte) []byte {
	out = op.AppendU32(append(out, op.GlobalGet), p.counter)
	out = append(op.AppendS32(append(out, op.I32Const), 1), op.I32Sub)
	return op.AppendU32(append(out, op.GlobalSet), p.counter)
}

// appendAsk appends if counter <= 0 { host_interrupt(); counter = Period }.
func (p probe) appendAsk(out []byte) []byte {
	out = op.AppendU32(append(out, op.GlobalGet), p.counter)
	out = op.AppendS32(append(out, op.I32Const), 1)
	out = op.AppendU32(append(out, op.I32LtS, op.If, op.BlockEmpty, op.Call), p.interrupt)
	out = op.AppendS32(append(out, op.Drop, op.I32Const), Period)
	out = op.AppendU32(append(out, op.GlobalSet), p.counter)
	return append(out, op.End)
}

// instrumentCode puts the probe into every function and appends those of f.
func instrumentCode(body []byte, l layout, p probe, f *patcher) ([]byte, error) {
	r := &wasmbinary.Reader{Bytes: body}
	n := r.U32()
	var added [][]byte
	if f != nil {
		added = f.functions(p)
	}
	out := op.AppendU32(nil, n+uint32(len(added)))
	reserved := reservedAddresses(l.data)
	for i := range n {
		code := r.Vector()
		if len(reserved) > 0 && l.isClassAtom(int(i)) {
			code = requireClass(code, reserved)
		}
		if f != nil {
			code = f.patchFunction(l, int(i), code)
		}
		code, err := instrumentFunc(code, p, f)
		if r.Err != nil {
			return nil, r.Err
		}
		if err != nil {
			return nil, fmt.Errorf("function %d of the code section: %w", i, err)
		}
		out = op.AppendU32(out, uint32(len(code)))
		out = append(out, code...)
	}
	for _, code := range added {
		out = op.AppendU32(out, uint32(len(code)))
		out = append(out, code...)
	}
	return out, r.Err
}

// patchFunction returns the code of function i of the module's own with what the other
// files of this package change in it.
func (f *patcher) patchFunction(l layout, i int, code []byte) []byte {
	code = l.inlineFree(i, l.shortenDispatch(spreadHashKeys(code)))
	if l.isBigIntCompare(i) {
		code = compareWithSign(code)
	}
	if l.isProxyDefine(i) {
		code = refuseUnwritableOnly(code)
	}
	if l.isCopyDataProperties(i) {
		code = askForEach(code)
	}
	if l.isPattern(i) {
		code = l.markPatternPositions(code)
	}
	if l.isPostfixParser(i) {
		code = bindNewArguments(code)
	}
	if l.isParenthesesSkipper(i) {
		code = divideAfterTemplates(code)
	}
	switch {
	case l.imports.funcs+uint32(i) == f.then:
		return f.allocateOwner(code)
	case i == f.date:
		return f.dateBody()
	case i == f.trampoline.function:
		return f.callBody()
	case i == f.searcher.exec:
		return f.insertSearch(code)
	case i == f.mover.copying:
		return f.insertMove(code)
	case i == f.mover.deleting:
		return f.insertTakeLast(code)
	case i == f.mover.arguing:
		return raiseArgumentLimit(code)
	case i == f.texter.indexOf || i == f.texter.includes:
		return f.insertSkip(code, i == f.texter.includes)
	}
	return code
}

func instrumentFunc(code []byte, p probe, f *patcher) ([]byte, error) {
	r := &wasmbinary.Reader{Bytes: code}
	skipLocals(r)
	out := make([]byte, 0, len(code)+len(code)/8)
	kept := 0
	bytecode := readInterpreter(code)
	for r.More() {
		opcode := r.Byte()
		start := r.At
		skipImmediates(r, opcode)
		switch opcode {
		case op.Loop:
			out = bytecode.appendHead(append(out, code[kept:r.At]...), p, start-1)
			kept = r.At
		case op.Br:
			if bytecode.turns[start-1] {
				out = p.appendAsk(append(out, code[kept:start-1]...))
				kept = start - 1
			}
		case op.Call:
			callee := (&wasmbinary.Reader{Bytes: code, At: start}).U32()
			if to := f.redirect(callee); to != callee {
				out = op.AppendU32(append(out, code[kept:start]...), to)
				kept = r.At
			}
		case op.Misc:
			if sub := (&wasmbinary.Reader{Bytes: code, At: start}).U32(); sub == op.MiscMemoryCopy || sub == op.MiscMemoryFill {
				out = f.appendMover(append(out, code[kept:start-1]...), p, code[start-1:r.At])
				kept = r.At
			}
		}
	}
	return append(out, code[kept:]...), r.Err
}

// span is where an instruction lies in a body.
type span struct{ start, end int }

// instructions are those of a body; nil when one is unknown, of which the pass over all
// code tells.
func instructions(code []byte) (all []span) {
	r := &wasmbinary.Reader{Bytes: code}
	skipLocals(r)
	for r.More() {
		start := r.At
		skipImmediates(r, r.Byte())
		all = append(all, span{start, r.At})
	}
	if r.Err != nil {
		return nil
	}
	return all
}

// skipLocals steps over a function's declarations of locals.
func skipLocals(r *wasmbinary.Reader) {
	for n := r.U32(); n > 0 && r.Err == nil; n-- {
		r.U32()
		r.Byte()
	}
}

// skipImmediates steps over what follows an opcode.
func skipImmediates(r *wasmbinary.Reader, opcode byte) {
	switch {
	case opcode == op.Block, opcode == op.Loop, opcode == op.If:
		r.Signed(33)
	case opcode == op.Br, opcode == op.BrIf, opcode == op.Call, opcode >= op.LocalGet && opcode <= op.TableSet, opcode == op.RefFunc:
		r.U32()
	case opcode == op.BrTable:
		for n := r.U32(); n > 0 && r.Err == nil; n-- {
			r.U32()
		}
		r.U32()
	case opcode == op.CallIndirect:
		r.U32()
		r.U32()
	case opcode == op.Misc:
		skipMisc(r)
	case opcode == op.SIMD, opcode == op.Atomic: // QuickJS has none
		r.Fail("unknown instruction %#x", opcode)
	default:
		r.Skip(opcode)
	}
}

// skipMisc steps over an instruction of the 0xfc family: saturating
// truncations, bulk memory and tables.
func skipMisc(r *wasmbinary.Reader) {
	switch sub := r.U32(); {
	case sub <= 7:
	case sub == op.MiscDataDrop, sub == op.MiscMemoryFill, sub == op.MiscElemDrop, sub >= op.MiscTableGrow && sub <= op.MiscTableFill:
		r.U32()
	case sub == op.MiscMemoryInit, sub == op.MiscMemoryCopy, sub == op.MiscTableInit, sub == op.MiscTableCopy:
		r.U32()
		r.U32()
	default:
		r.Fail("unknown instruction 0xfc %#x", sub)
	}
}
