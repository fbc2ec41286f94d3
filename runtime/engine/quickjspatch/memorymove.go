package quickjspatch

import (
	"slices"

	"github.com/pages-toolchain/pages/runtime/wasmbinary/op"
)

// This file splits what fills or copies memory: a hundred megabytes in one
// instruction are tens of milliseconds in which the host hears nothing. In
// QuickJS each such instruction becomes a call of one of two new functions, of
// the type (i32 to, i32 value or from, i32 length). They move up to moveStep
// bytes as they are, and more in steps, each of which takes from the counter.

const (
	// moveStep is the bytes moved at once. Memory that is touched for the first
	// time comes at about a gigabyte a second.
	moveStep = 1 << 18
	moveType = "\x60\x03\x7f\x7f\x7f\x00"
)

// typeIndex is the index of a type as it is encoded, -1 without it.
func (l layout) typeIndex(encoded string) int {
	return slices.IndexFunc(l.types, func(t []byte) bool { return string(t) == encoded })
}

// The functions of this file are the last of those that a follower adds.
func (f *patcher) fillFunction() uint32 { return f.first + 2 }
func (f *patcher) copyFunction() uint32 { return f.first + 3 }

// appendMover appends what stands for an instruction that fills or copies memory.
func (f *patcher) appendMover(out []byte, p probe, instruction []byte) []byte {
	switch {
	case f == nil:
		return append(p.appendMove(out), instruction...)
	case instruction[1] == op.MiscMemoryFill:
		return op.AppendU32(append(out, op.Call), f.fillFunction())
	}
	return op.AppendU32(append(out, op.Call), f.copyFunction())
}

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
		out = op.AppendS32(append(appendGet(appendGet(out, 0), 1), op.I32Const), moveStep)
		out = append(p.appendMove(out), fillInstruction...)
		return appendStep(appendStep(out, 0, op.I32Add), 2, op.I32Sub)
	})
	out = append(p.appendMove(appendGets(out, 0, 1, 2)), fillInstruction...)
	return append(out, op.End)
}

// copyBody moves the steps from the first to the last, or the other way when the
// target lies behind the source: they may overlap.
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

func appendGets(out []byte, locals ...byte) []byte {
	for _, local := range locals {
		out = appendGet(out, local)
	}
	return out
}
