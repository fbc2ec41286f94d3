package quickjspatch

import (
	"bytes"
	"slices"

	"github.com/pages-toolchain/pages/runtime/wasmbinary"
	"github.com/pages-toolchain/pages/runtime/wasmbinary/op"
)

// This file makes the function that runs bytecode light for wazero, which gives registers
// to what lives at the head of a loop as the first way into it left them, and puts them
// back on each way to it. In this loop, that is on each way from one instruction of bytecode
// to the next.
//
// What was computed before the loop because it never changes, such as the address of the
// first variable, lives in all of the loop, and is used in one or two of its places: there
// it is computed anew.
//
// The head of the loop counts, and calls nobody, since a call leaves no register as it was.
// Whether the counter has run out is asked on the ways to it that may lead back in the
// bytecode, and not on those to the next instruction: a run of such ends with the function.

// interpreter is where the loop that runs bytecode is in a body.
type interpreter struct {
	loop  int          // where its head is; -1 where there is none
	turns map[int]bool // where the branches to it are that do not lead to the next instruction
}

// readInterpreter finds the loop in the function that [layout.interpreting] changed; there is
// none in any other.
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

// appendHead appends what the head of a loop does, which is at a place of the body.
func (b interpreter) appendHead(out []byte, p probe, at int) []byte {
	if at == b.loop {
		return p.appendCount(out)
	}
	return p.appendProbe(out)
}

// loopsAround are the outermost and the innermost loop that an instruction is in; -1 for none.
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

// branchesTo are the instructions that may branch to a loop.
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

// findDispatch is the br_table with a label for each byte, which is read from where a local
// points; -1 without it:
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

// endOf is the end of the block that instruction i opens.
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

// branchLabels are where a branch may lead, in blocks from the innermost one.
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

// localOf is the local that an instruction gets or sets.
func localOf(code []byte, in span) uint32 {
	return (&wasmbinary.Reader{Bytes: code, At: in.start + 1}).U32()
}

// goesToNext reports whether the instructions before a branch end in those that go to the next
// instruction of bytecode. after is one more than position, where an instruction is; both
// go on by the same number, which is no less than 1:
//
//	local.get after, local.tee position, i32.const 1, i32.add, local.set after
//
// or
//
//	local.get after, i32.const n-1, i32.add, local.set position
//	what sets neither, and does not branch
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

// matchAdd reads what instructions end in, and returns the local, the number and what is
// before it; a negative number for anything else:
//
//	i32.const n, i32.add, local.set
func matchAdd(code []byte, all []span) (local uint32, n int32, before []span) {
	i := len(all) - 3
	if i < 0 || code[all[i].start] != op.I32Const || code[all[i+1].start] != op.I32Add || code[all[i+2].start] != op.LocalSet {
		return 0, -1, nil
	}
	return localOf(code, all[i+2]), int32((&wasmbinary.Reader{Bytes: code, At: all[i].start + 1}).Signed(32)), all[:i]
}

// rematerialize returns the code of the interpreter with what never changes in its loop computed
// where it is used.
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
		switch value, ok := values[localIn(code, in)]; {
		case gone[i]:
		case ok && code[in.start] == op.LocalGet:
			out = append(out, value...)
		default:
			out = append(out, code[in.start:in.end]...)
		}
	}
	return out
}

// usesOfLocals are the instructions that get or set each local, by one of ops.
func usesOfLocals(code []byte, all []span, ops ...byte) map[uint32][]int {
	found := map[uint32][]int{}
	for i, in := range all {
		if slices.Contains(ops, code[in.start]) {
			found[localOf(code, in)] = append(found[localOf(code, in)], i)
		}
	}
	return found
}

// localIn is the local that an instruction gets, or one that there is not.
func localIn(code []byte, in span) uint32 {
	if code[in.start] != op.LocalGet {
		return ^uint32(0)
	}
	return localOf(code, in)
}

// valueStart is where the instructions begin that leave one value, which is computed of numbers
// and of locals that are fixed, in at most as many as a load and a store are worth; -1 when
// the last ones do anything else.
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
