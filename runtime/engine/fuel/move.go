package fuel

import "slices"

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

	opLocalSet = 0x21
	opI32LeU   = 0x4d
	opI32Add   = 0x6a
)

// typeIndex is the index of a type as it is encoded, -1 without it.
func (l layout) typeIndex(encoded string) int {
	return slices.IndexFunc(l.types, func(t []byte) bool { return string(t) == encoded })
}

// The functions of this file are the last of those that a follower adds.
func (f *follower) fillFunction() uint32 { return f.first + 2 }
func (f *follower) copyFunction() uint32 { return f.first + 3 }

// appendMover appends what stands for an instruction that fills or copies memory.
func (f *follower) appendMover(out []byte, p probe, instruction []byte) []byte {
	switch {
	case f == nil:
		return append(p.appendMove(out), instruction...)
	case instruction[1] == subMemoryFill:
		return appendU32(append(out, opCall), f.fillFunction())
	}
	return appendU32(append(out, opCall), f.copyFunction())
}

var (
	fillInstruction = []byte{opPrefix, subMemoryFill, 0}
	copyInstruction = []byte{opPrefix, subMemoryCopy, 0, 0}
)

// fillBody is
//
//	if length > moveStep { loop { fill(to, value, moveStep); to += moveStep; length -= moveStep; if length > moveStep again } }
//	fill(to, value, length)
func (p probe) fillBody() []byte {
	out := p.inSteps([]byte{0}, func(out []byte) []byte {
		out = appendS32(append(appendGet(appendGet(out, 0), 1), opI32Const), moveStep)
		out = append(p.appendMove(out), fillInstruction...)
		return appendStep(appendStep(out, 0, opI32Add), 2, opI32Sub)
	})
	out = append(p.appendMove(appendGets(out, 0, 1, 2)), fillInstruction...)
	return append(out, opEnd)
}

// copyBody moves the steps from the first to the last, or the other way when the
// target lies behind the source: they may overlap.
func (p probe) copyBody() []byte {
	out := append(appendGets([]byte{0}, 0, 1), opI32LeU, opIf, blockEmpty)
	out = p.inSteps(out, func(out []byte) []byte {
		out = appendS32(append(appendGets(out, 0, 1), opI32Const), moveStep)
		out = append(p.appendMove(out), copyInstruction...)
		return appendStep(appendStep(appendStep(out, 0, opI32Add), 1, opI32Add), 2, opI32Sub)
	})
	out = append(out, opElse)
	out = p.inSteps(out, func(out []byte) []byte {
		out = appendStep(out, 2, opI32Sub)
		out = append(appendGets(out, 0, 2), opI32Add)
		out = append(appendGets(out, 1, 2), opI32Add)
		return append(p.appendMove(appendS32(append(out, opI32Const), moveStep)), copyInstruction...)
	})
	out = append(out, opEnd)
	out = append(p.appendMove(appendGets(out, 0, 1, 2)), copyInstruction...)
	return append(out, opEnd)
}

// inSteps appends a loop that takes steps while the length is above one.
func (p probe) inSteps(out []byte, step func([]byte) []byte) []byte {
	out = appendLong(out)
	out = p.append(append(out, opIf, blockEmpty, opLoop, blockEmpty))
	out = appendLong(step(out))
	return append(out, opBrIf, 0, opEnd, opEnd)
}

// appendLong appends length > moveStep.
func appendLong(out []byte) []byte {
	return append(appendGet(appendS32(append(out, opI32Const), moveStep), 2), opI32LtU)
}

// appendStep appends local = local op moveStep.
func appendStep(out []byte, local, op byte) []byte {
	out = appendS32(append(appendGet(out, local), opI32Const), moveStep)
	return append(out, op, opLocalSet, local)
}

func appendGets(out []byte, locals ...byte) []byte {
	for _, local := range locals {
		out = appendGet(out, local)
	}
	return out
}
