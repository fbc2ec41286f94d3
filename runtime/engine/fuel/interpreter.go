package fuel

import (
	"bytes"
	"slices"
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

const opI64And = 0x83

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
	at := dispatching(code, all)
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
		case isNext(code, all[:i], position):
		case code[in.start] == opBr:
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
	return p.append(out)
}

// loopsAround are the outermost and the innermost loop that an instruction is in; -1 for none.
func loopsAround(code []byte, all []span, at int) (outermost, innermost int) {
	outermost, innermost = -1, -1
	for i, in := range all[:at] {
		if code[in.start] != opLoop || endOf(code, all, i) < at {
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
		case opBlock, opLoop, opIf:
			open = append(open, i)
		case opEnd:
			open = open[:max(len(open)-1, 0)]
		case opBr, opBrIf, opBrTable:
			here := len(open) - 1 - slices.Index(open, loop)
			if here < len(open) && slices.Contains(depths(code, in), uint32(here)) {
				branches = append(branches, i)
			}
		}
	}
	return branches
}

// dispatching is the br_table with a label for each byte, which is read from where a local
// points; -1 without it:
//
//	local.get position, i32.load8_u, local.tee, br_table
func dispatching(code []byte, all []span) int {
	for i, in := range all {
		if i >= 3 && code[in.start] == opBrTable && len(depths(code, in)) == bytecodes && code[all[i-1].start] == opLocalTee &&
			code[all[i-2].start] == opI32Load8U && code[all[i-3].start] == opLocalGet {
			return i
		}
	}
	return -1
}

// endOf is the end of the block that instruction i opens.
func endOf(code []byte, all []span, i int) int {
	for open := 0; i < len(all); i++ {
		switch code[all[i].start] {
		case opBlock, opLoop, opIf:
			open++
		case opEnd:
			if open--; open == 0 {
				return i
			}
		}
	}
	return len(all)
}

// depths are where a branch may lead, in blocks from the innermost one.
func depths(code []byte, in span) []uint32 {
	r, n := &reader{b: code, at: in.start}, uint32(1)
	if r.byte() == opBrTable {
		n = r.u32() + 1
	}
	labels := make([]uint32, n)
	for i := range labels {
		labels[i] = r.u32()
	}
	return labels
}

// localOf is the local that an instruction gets or sets.
func localOf(code []byte, in span) uint32 { return (&reader{b: code, at: in.start + 1}).u32() }

// isNext reports whether the instructions before a branch end in those that go to the next
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
func isNext(code []byte, before []span, position uint32) bool {
	after, n, rest := adding(code, before)
	if n < 1 {
		return false
	}
	if last := len(rest) - 1; n == 1 && last >= 1 && code[rest[last].start] == opLocalTee && localOf(code, rest[last]) == position {
		return code[rest[last-1].start] == opLocalGet && localOf(code, rest[last-1]) == after
	}
	if last := len(rest) - 1; last < 0 || code[rest[last].start] != opLocalGet || localOf(code, rest[last]) != after {
		return false
	}
	for i := len(rest) - 2; i >= 0; i-- {
		switch code[rest[i].start] {
		case opBlock, opLoop, opIf, opElse, opEnd, opBr, opBrIf, opBrTable:
			return false
		case opLocalSet, opLocalTee:
			switch localOf(code, rest[i]) {
			case after:
				return false
			case position:
				to, m, from := adding(code, rest[:i+1])
				last := len(from) - 1
				return to == position && m == n-1 && last >= 0 && code[from[last].start] == opLocalGet && localOf(code, from[last]) == after
			}
		}
	}
	return false
}

// adding reads what instructions end in, and returns the local, the number and what is
// before it; a negative number for anything else:
//
//	i32.const n, i32.add, local.set
func adding(code []byte, all []span) (local uint32, n int32, before []span) {
	i := len(all) - 3
	if i < 0 || code[all[i].start] != opI32Const || code[all[i+1].start] != opI32Add || code[all[i+2].start] != opLocalSet {
		return 0, -1, nil
	}
	return localOf(code, all[i+2]), (&reader{b: code, at: all[i].start + 1}).s32(), all[:i]
}

// lighter returns the code of the interpreter with what never changes in its loop computed
// where it is used.
func lighter(code []byte) []byte {
	all := instructions(code)
	at := dispatching(code, all)
	if at < 0 {
		return code
	}
	outermost, innermost := loopsAround(code, all, at)
	gets, sets := uses(code, all, opLocalGet), uses(code, all, opLocalSet, opLocalTee)
	fixed := func(local uint32) bool { // while the loop around runs
		s := sets[local]
		return len(s) == 0 || s[len(s)-1] < outermost
	}
	values, gone := map[uint32][]byte{}, map[int]bool{}
	for local, s := range sets {
		set, first := s[0], -1
		if len(s) == 1 && outermost < set && set < innermost && len(gets[local]) > 0 && set < gets[local][0] {
			first = valueOf(code, all[:set], fixed)
		}
		if first < 0 {
			continue
		}
		values[local] = code[all[first].start:all[set].start]
		gone[set] = true
		for i := first; i < set && code[all[set].start] == opLocalSet; i++ {
			gone[i] = true
		}
	}
	out := bytes.Clone(code[:all[0].start])
	for i, in := range all {
		switch value, ok := values[localIn(code, in)]; {
		case gone[i]:
		case ok && code[in.start] == opLocalGet:
			out = append(out, value...)
		default:
			out = append(out, code[in.start:in.end]...)
		}
	}
	return out
}

// uses are the instructions that get or set each local, by one of ops.
func uses(code []byte, all []span, ops ...byte) map[uint32][]int {
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
	if code[in.start] != opLocalGet {
		return ^uint32(0)
	}
	return localOf(code, in)
}

// valueOf is where the instructions begin that leave one value, which is computed of numbers
// and of locals that are fixed, in at most as many as a load and a store are worth; -1 when
// the last ones do anything else.
func valueOf(code []byte, all []span, fixed func(uint32) bool) int {
	const most = 4
	wanted := 1
	for i := len(all) - 1; i >= max(len(all)-most, 0); i-- {
		switch code[all[i].start] {
		case opLocalGet:
			if !fixed(localOf(code, all[i])) {
				return -1
			}
			wanted--
		case opI32Const, opI64Const:
			wanted--
		case opI32Add, opI32Sub, opI32And, opI32Shl, opI64And:
			wanted++
		case opWrap, opI64Extend:
		default:
			return -1
		}
		if wanted == 0 {
			return i
		}
	}
	return -1
}
