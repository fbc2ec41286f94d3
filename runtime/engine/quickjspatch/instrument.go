package quickjspatch

import (
	"fmt"

	"github.com/pages-toolchain/pages/runtime/wasmbinary"
	"github.com/pages-toolchain/pages/runtime/wasmbinary/op"
)

// moveShift converts bytes to loop iterations: 16 bytes count as one. They take much less, but where their memory is touched
// for the first time: a virtual machine that asks its host for each page gives 160 MB a second, and an interrupt is due at
// least once a millisecond there, too.
const moveShift = 4

// probe is the code at the head of each loop:
//
//	counter--; if counter <= 0 { host_interrupt(); counter = Period }
//
// In the loop that runs bytecode its two halves are in different places (interpreter.go). length is a global for the number
// of bytes that an instruction moves.
type probe struct{ counter, length, interrupt uint32 }

// appendMove appends the code before an instruction that moves the number of bytes on the top of the stack:
//
//	counter = max(counter - length>>moveShift, 1)
//
// The next head of a loop interrupts.
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
	out = appendCall(append(out, op.I32LtS, op.If, op.BlockEmpty), p.interrupt)
	out = op.AppendS32(append(out, op.Drop, op.I32Const), Period)
	out = op.AppendU32(append(out, op.GlobalSet), p.counter)
	return append(out, op.End)
}

// instrumentCode puts the probe into every function and appends the new ones.
func instrumentCode(body []byte, l layout, p probe, f *patcher) ([]byte, error) {
	r := &wasmbinary.Reader{Bytes: body}
	n := r.U32()
	var added []newFunction
	if f != nil {
		added = f.newFunctions(p)
	}
	out := op.AppendU32(nil, n+uint32(len(added)))
	reserved := reservedAddresses(l.data)
	for i := range n {
		code := r.Vector()
		if len(reserved) > 0 && l.hasType(int(i), classAtomType) {
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
	for _, a := range added {
		out = op.AppendU32(out, uint32(len(a.body)))
		out = append(out, a.body...)
	}
	return out, r.Err
}

func instrumentFunc(code []byte, p probe, f *patcher) ([]byte, error) {
	r := &wasmbinary.Reader{Bytes: code}
	skipLocals(r)
	out := make([]byte, 0, len(code)+len(code)/8)
	copied := 0
	bytecode := readInterpreter(code)
	for r.More() {
		opcode := r.Byte()
		start := r.At
		skipImmediates(r, opcode)
		switch opcode {
		case op.Loop:
			out = append(out, code[copied:r.At]...)
			if start-1 == bytecode.loop {
				out = p.appendCount(out)
			} else {
				out = p.appendProbe(out)
			}
			copied = r.At
		case op.Br:
			if bytecode.turns[start-1] {
				out = p.appendAsk(append(out, code[copied:start-1]...))
				copied = start - 1
			}
		case op.Call:
			callee := (&wasmbinary.Reader{Bytes: code, At: start}).U32()
			if to := f.redirect(callee); to != callee {
				out = op.AppendU32(append(out, code[copied:start]...), to)
				copied = r.At
			}
		case op.Misc:
			sub := (&wasmbinary.Reader{Bytes: code, At: start}).U32()
			if sub != op.MiscMemoryCopy && sub != op.MiscMemoryFill {
				continue
			}
			out = append(out, code[copied:start-1]...)
			switch {
			case f == nil:
				out = append(p.appendMove(out), code[start-1:r.At]...)
			case sub == op.MiscMemoryFill:
				out = appendCall(out, f.function(fillMemory))
			default:
				out = appendCall(out, f.function(copyMemory))
			}
			copied = r.At
		}
	}
	return append(out, code[copied:]...), r.Err
}

// span is the place of an instruction in a body.
type span struct{ start, end int }

// instructions returns those of a body; nil when one is unknown, which is an error of instrumentFunc.
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

// skipImmediates steps over the immediates of an opcode.
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
	case opcode == op.Misc: // saturating truncations, bulk memory and tables
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
	case opcode == op.SIMD, opcode == op.Atomic: // QuickJS has none
		r.Fail("unknown instruction %#x", opcode)
	default:
		r.Skip(opcode)
	}
}

// Instructions that fill or copy memory are split: a hundred megabytes in one instruction are tens of milliseconds without an
// interrupt. In QuickJS each becomes a call of fillBody or copyBody, of the type (i32 to, i32 value or from, i32 length).
// They move up to moveStep bytes at once, and more in steps, each of which takes from the counter.
const (
	// moveStep is the number of bytes moved at once, less than a period's.
	moveStep = 1 << 16
	moveType = "\x60\x03\x7f\x7f\x7f\x00"
)

var (
	fillInstruction = []byte{op.Misc, op.MiscMemoryFill, 0}
	copyInstruction = []byte{op.Misc, op.MiscMemoryCopy, 0, 0}
)

// fillBody is
//
//	if length > moveStep { loop { fill(to, value, moveStep); to += moveStep; length -= moveStep; if length > moveStep again } }
//	fill(to, value, length)
func (p probe) fillBody() []byte {
	out := p.inSteps([]byte{0}, func(out []byte) []byte {
		out = op.AppendS32(append(appendGets(out, 0, 1), op.I32Const), moveStep)
		out = append(p.appendMove(out), fillInstruction...)
		return appendStep(appendStep(out, 0, op.I32Add), 2, op.I32Sub)
	})
	out = append(p.appendMove(appendGets(out, 0, 1, 2)), fillInstruction...)
	return append(out, op.End)
}

// copyBody moves the steps from the first to the last, or the other way when the target lies after the source: they may
// overlap.
func (p probe) copyBody() []byte {
	out := append(appendGets([]byte{0}, 0, 1), op.I32LeU, op.If, op.BlockEmpty)
	out = p.inSteps(out, func(out []byte) []byte {
		out = op.AppendS32(append(appendGets(out, 0, 1), op.I32Const), moveStep)
		out = append(p.appendMove(out), copyInstruction...)
		return appendStep(appendStep(appendStep(out, 0, op.I32Add), 1, op.I32Add), 2, op.I32Sub)
	})
	out = append(out, op.Else)
	out = p.inSteps(out, func(out []byte) []byte {
		out = appendStep(out, 2, op.I32Sub)
		out = append(appendGets(out, 0, 2), op.I32Add)
		out = append(appendGets(out, 1, 2), op.I32Add)
		return append(p.appendMove(op.AppendS32(append(out, op.I32Const), moveStep)), copyInstruction...)
	})
	out = append(out, op.End)
	out = append(p.appendMove(appendGets(out, 0, 1, 2)), copyInstruction...)
	return append(out, op.End)
}

// inSteps appends a loop that takes steps while the length is above one.
func (p probe) inSteps(out []byte, step func([]byte) []byte) []byte {
	out = appendLong(out)
	out = p.appendProbe(append(out, op.If, op.BlockEmpty, op.Loop, op.BlockEmpty))
	out = appendLong(step(out))
	return append(out, op.BrIf, 0, op.End, op.End)
}

// appendLong appends length > moveStep.
func appendLong(out []byte) []byte {
	return append(appendGet(op.AppendS32(append(out, op.I32Const), moveStep), 2), op.I32LtU)
}

// appendStep appends local = local op moveStep.
func appendStep(out []byte, local, opcode byte) []byte {
	out = op.AppendS32(append(appendGet(out, local), op.I32Const), moveStep)
	return append(out, opcode, op.LocalSet, local)
}
