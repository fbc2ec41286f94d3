package quickjspatch

import (
	"bytes"
	"encoding/binary"
	"slices"

	"github.com/pages-toolchain/pages/runtime/wasmbinary"
	"github.com/pages-toolchain/pages/runtime/wasmbinary/op"
)

// This file makes QuickJS's interpreter of bytecode faster. It was measured in wazero's machine code.
//
// The path from one instruction of bytecode to the next is shorter (shortenDispatch). QuickJS keeps the address of a label
// for each instruction (dispatch_table of JS_CallInternal). In WebAssembly such an address is a number in memory and a
// br_table that takes it: two tables for each instruction, one after a check of its bounds. They become one. The module was
// also compiled with an option to print each instruction before it runs (JS_DUMP_BYTECODE_STEP), and checks that option
// each time: two loads, each with a bounds check, in over two hundred places. The patch removes them.
//
// The loop has fewer live values (rematerialize). wazero assigns registers to the live values at the head of a loop by its
// first entry, and restores them at each jump to it: here, from each instruction of bytecode to the next. Values that were
// computed before the loop because they never change, such as the address of the first variable, live in the whole loop and
// are used in one or two places: the patch computes them there.
//
// The probe is split (readInterpreter). The head of the loop counts without a call, since a call changes all registers.
// Jumps that may go back in the bytecode check the counter; jumps to the next instruction do not, since a run of them ends
// with the function.

// bytecodes is the number of instructions that a byte can name.
const bytecodes = 256

// interpreter is the loop in a body that runs bytecode.
type interpreter struct {
	loop  int          // the place of its head; -1 for none
	turns map[int]bool // the places of the branches to it that do not lead to the next instruction
}

// readInterpreter finds the loop in the function that shortenDispatch changed; other functions have none.
func readInterpreter(code []byte) interpreter {
	none := interpreter{loop: -1}
	all := instructions(code)
	at := findDispatch(code, all)
	if at < 0 {
		return none
	}
	_, loop := loopsAround(code, all, at)
	if loop < 0 {
		return none
	}
	position := localOf(code, all[at-3])
	found := interpreter{loop: all[loop].start, turns: map[int]bool{}}
	for _, i := range branchesTo(code, all, loop) {
		switch in := all[i]; {
		case goesToNext(code, all[:i], position):
		case code[in.start] == op.Br:
			found.turns[in.start] = true
		default:
			return none
		}
	}
	return found
}

// loopsAround returns the outermost and the innermost loop around an instruction; -1 for none.
func loopsAround(code []byte, all []span, at int) (outermost, innermost int) {
	outermost, innermost = -1, -1
	for i, in := range all[:at] {
		if code[in.start] != op.Loop || endOf(code, all, i) < at {
			continue
		}
		if innermost = i; outermost < 0 {
			outermost = i
		}
	}
	return outermost, innermost
}

// branchesTo returns the instructions that may branch to a loop.
func branchesTo(code []byte, all []span, loop int) (branches []int) {
	var open []int
	for i, in := range all {
		switch code[in.start] {
		case op.Block, op.Loop, op.If:
			open = append(open, i)
		case op.End:
			open = open[:max(len(open)-1, 0)]
		case op.Br, op.BrIf, op.BrTable:
			here := len(open) - 1 - slices.Index(open, loop)
			if here < len(open) && slices.Contains(branchLabels(code, in), uint32(here)) {
				branches = append(branches, i)
			}
		}
	}
	return branches
}

// findDispatch returns the br_table with a label for each byte at the address in a local; -1 without it:
//
//	local.get position, i32.load8_u, local.tee, br_table
func findDispatch(code []byte, all []span) int {
	for i, in := range all {
		if i >= 3 && code[in.start] == op.BrTable && len(branchLabels(code, in)) == bytecodes && code[all[i-1].start] == op.LocalTee &&
			code[all[i-2].start] == op.I32Load8U && code[all[i-3].start] == op.LocalGet {
			return i
		}
	}
	return -1
}

// endOf returns the end of the block that instruction i opens.
func endOf(code []byte, all []span, i int) int {
	for open := 0; i < len(all); i++ {
		switch code[all[i].start] {
		case op.Block, op.Loop, op.If:
			open++
		case op.End:
			if open--; open == 0 {
				return i
			}
		}
	}
	return len(all)
}

// branchLabels returns the labels of a branch, counted from the innermost block.
func branchLabels(code []byte, in span) []uint32 {
	r, n := &wasmbinary.Reader{Bytes: code, At: in.start}, uint32(1)
	if r.Byte() == op.BrTable {
		n = r.U32() + 1
	}
	labels := make([]uint32, n)
	for i := range labels {
		labels[i] = r.U32()
	}
	return labels
}

// localOf returns the local that an instruction gets or sets.
func localOf(code []byte, in span) uint32 {
	return (&wasmbinary.Reader{Bytes: code, At: in.start + 1}).U32()
}

// goesToNext reports whether the instructions before a branch end in those that step to the next instruction of bytecode. The
// local after is one more than position; both advance by the same number, at least 1:
//
//	local.get after, local.tee position, i32.const 1, i32.add, local.set after
//
// or
//
//	local.get after, i32.const n-1, i32.add, local.set position
//	instructions that set neither and do not branch
//	local.get after, i32.const n, i32.add, local.set after
func goesToNext(code []byte, before []span, position uint32) bool {
	after, n, rest := matchAdd(code, before)
	if n < 1 {
		return false
	}
	if last := len(rest) - 1; n == 1 && last >= 1 && code[rest[last].start] == op.LocalTee && localOf(code, rest[last]) == position {
		return code[rest[last-1].start] == op.LocalGet && localOf(code, rest[last-1]) == after
	}
	if last := len(rest) - 1; last < 0 || code[rest[last].start] != op.LocalGet || localOf(code, rest[last]) != after {
		return false
	}
	for i := len(rest) - 2; i >= 0; i-- {
		switch code[rest[i].start] {
		case op.Block, op.Loop, op.If, op.Else, op.End, op.Br, op.BrIf, op.BrTable:
			return false
		case op.LocalSet, op.LocalTee:
			switch localOf(code, rest[i]) {
			case after:
				return false
			case position:
				to, m, from := matchAdd(code, rest[:i+1])
				last := len(from) - 1
				return to == position && m == n-1 && last >= 0 && code[from[last].start] == op.LocalGet &&
					localOf(code, from[last]) == after
			}
		}
	}
	return false
}

// matchAdd returns the local, the number and the instructions before an addition at the end of all; a negative number if
// there is none:
//
//	i32.const n, i32.add, local.set
func matchAdd(code []byte, all []span) (local uint32, n int32, before []span) {
	i := len(all) - 3
	if i < 0 || code[all[i].start] != op.I32Const || code[all[i+1].start] != op.I32Add || code[all[i+2].start] != op.LocalSet {
		return 0, -1, nil
	}
	return localOf(code, all[i+2]), int32((&wasmbinary.Reader{Bytes: code, At: all[i].start + 1}).Signed(32)), all[:i]
}

// rematerialize returns the code of the interpreter with values that never change in its loop computed where they are used.
func rematerialize(code []byte) []byte {
	all := instructions(code)
	at := findDispatch(code, all)
	if at < 0 {
		return code
	}
	outermost, innermost := loopsAround(code, all, at)
	gets, sets := usesOfLocals(code, all, op.LocalGet), usesOfLocals(code, all, op.LocalSet, op.LocalTee)
	fixed := func(local uint32) bool { // while the loop around runs
		s := sets[local]
		return len(s) == 0 || s[len(s)-1] < outermost
	}
	values, gone := map[uint32][]byte{}, map[int]bool{}
	for local, s := range sets {
		set, first := s[0], -1
		if len(s) == 1 && outermost < set && set < innermost && len(gets[local]) > 0 && set < gets[local][0] {
			first = valueStart(code, all[:set], fixed)
		}
		if first < 0 {
			continue
		}
		values[local] = code[all[first].start:all[set].start]
		gone[set] = true
		for i := first; i < set && code[all[set].start] == op.LocalSet; i++ {
			gone[i] = true
		}
	}
	out := bytes.Clone(code[:all[0].start])
	for i, in := range all {
		if gone[i] {
			continue
		}
		replaced := code[in.start:in.end]
		if code[in.start] == op.LocalGet {
			if value, ok := values[localOf(code, in)]; ok {
				replaced = value
			}
		}
		out = append(out, replaced...)
	}
	return out
}

// usesOfLocals returns the instructions with one of ops for each local.
func usesOfLocals(code []byte, all []span, ops ...byte) map[uint32][]int {
	found := map[uint32][]int{}
	for i, in := range all {
		if slices.Contains(ops, code[in.start]) {
			found[localOf(code, in)] = append(found[localOf(code, in)], i)
		}
	}
	return found
}

// valueStart returns the start of the instructions at the end that compute one value, if they use only numbers and fixed locals, and are
// cheaper than a load and a store; otherwise -1.
func valueStart(code []byte, all []span, fixed func(uint32) bool) int {
	const most = 4
	wanted := 1
	for i := len(all) - 1; i >= max(len(all)-most, 0); i-- {
		switch code[all[i].start] {
		case op.LocalGet:
			if !fixed(localOf(code, all[i])) {
				return -1
			}
			wanted--
		case op.I32Const, op.I64Const:
			wanted--
		case op.I32Add, op.I32Sub, op.I32And, op.I32Shl, op.I64And:
			wanted++
		case op.I32WrapI64, op.I64ExtendU:
		default:
			return -1
		}
		if wanted == 0 {
			return i
		}
	}
	return -1
}

// shortenDispatch returns the code of the interpreter with one table for each instruction, and rematerialized; other code as
// it is.
func (l layout) shortenDispatch(code []byte) []byte {
	var out []byte
	copied, dispatches := 0, false
	all := instructions(code)
	for i, in := range all {
		if targets := l.targets(code, all[:i], in); targets != nil {
			dispatches = true
			out = append(append(out, code[copied:all[i-tableSteps].start]...), op.BrTable)
			out = op.AppendU32(out, uint32(len(targets)-1))
			for _, t := range targets {
				out = op.AppendU32(out, t)
			}
			copied = in.end
		}
		if end := matchPrint(code, all[i:]); end > 0 {
			start := in.start
			if i > 0 && bytes.Equal(code[all[i-1].start:start], []byte{op.I32Load, 2, 0}) {
				start = all[i-1].start // the runtime, which is looked up for this alone
			}
			out = append(append(out, code[copied:start]...), op.Drop)
			copied = end
		}
	}
	if !dispatches {
		return code
	}
	return rematerialize(append(out, code[copied:]...))
}

// tableSteps is the number of instructions that convert a byte to the number for a br_table:
//
//	i32.const 2, i32.shl, i32.load table, i32.const first, i32.sub
const tableSteps = 5

// targets returns the labels of a br_table for each byte; nil for any other instruction, and for a br_table that takes no
// number looked up for the byte of an i32.load8_u and a local.tee.
func (l layout) targets(code []byte, before []span, in span) []uint32 {
	if code[in.start] != op.BrTable || len(before) < tableSteps+2 {
		return nil
	}
	steps := before[len(before)-tableSteps-2:]
	load, first := &wasmbinary.Reader{Bytes: code, At: steps[4].start}, &wasmbinary.Reader{Bytes: code, At: steps[5].start}
	isByte := code[steps[0].start] == op.I32Load8U && code[steps[1].start] == op.LocalTee
	isLoad := load.Byte() == op.I32Load && load.U32() == 2
	if !isByte || !isLoad || first.Byte() != op.I32Const || code[steps[6].start] != op.I32Sub ||
		!bytes.Equal(code[steps[2].start:steps[4].start], []byte{op.I32Const, 2, op.I32Shl}) {
		return nil
	}
	numbers, lowest := l.initialMemory(load.U32(), 4*bytecodes), uint32(first.Signed(32))
	if numbers == nil {
		return nil
	}
	labels := branchLabels(code, in) // the last one is for every other number
	targets := make([]uint32, bytecodes)
	for i := range targets {
		n := binary.LittleEndian.Uint32(numbers[4*i:]) - lowest
		targets[i] = labels[min(n, uint32(len(labels)-1))]
	}
	return targets
}

// matchPrint returns the end of the code to print an instruction that all begins with; 0 for other code:
//
//	i32.load8_u flags, i32.const 0x80, i32.and, if
//	local.get context, local.get position, local.get function, i32.const 0, call, end
func matchPrint(code []byte, all []span) int {
	const steps = 10
	if len(all) < steps {
		return 0
	}
	ops := make([]byte, steps)
	for i := range ops {
		ops[i] = code[all[i].start]
	}
	same := bytes.Equal(ops, []byte{
		op.I32Load8U, op.I32Const, op.I32And, op.If, op.LocalGet, op.LocalGet, op.LocalGet, op.I32Const, op.Call,
		op.End,
	})
	if !same || !bytes.Equal(code[all[1].start:all[4].start], []byte{op.I32Const, 0x80, 0x01, op.I32And, op.If, op.BlockEmpty}) ||
		code[all[7].start+1] != 0 {
		return 0
	}
	return all[steps-1].end
}
