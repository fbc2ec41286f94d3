package fuel

import "bytes"

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
	loop  int          // where its head is
	turns map[int]bool // where the branches to it are that do not lead to the next instruction
}

// readInterpreter finds the loop of the function that [layout.interpreting] changed; there is
// none in any other.
func readInterpreter(code []byte) (interpreter, bool) {
	all := instructions(code)
	at := dispatching(code, all)
	if at < 0 {
		return interpreter{}, false
	}
	position := localOf(code, all[at-3])
	found := interpreter{loop: -1, turns: map[int]bool{}}
	for i, in := range all[:at] {
		if code[in.start] == opLoop && endOf(code, all, i) > at {
			found.loop = in.start
		}
	}
	var open []int
	for i, in := range all {
		switch code[in.start] {
		case opBlock, opLoop, opIf:
			open = append(open, in.start)
		case opEnd:
			open = open[:max(len(open)-1, 0)]
		case opBr, opBrIf, opBrTable:
			for _, depth := range depths(code, in) {
				if outer := len(open) - 1 - int(depth); outer < 0 || open[outer] != found.loop || isNext(code, all[:i], position) {
					continue
				}
				if code[in.start] != opBr {
					return interpreter{}, false
				}
				found.turns[in.start] = true
			}
		}
	}
	return found, found.loop >= 0 && len(found.turns) > 0
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
	sets, gets := map[uint32][]int{}, map[uint32][]int{}
	outermost, inner := -1, 0
	for i, in := range all {
		switch code[in.start] {
		case opLoop:
			if i < at && endOf(code, all, i) > at {
				inner = i
				if outermost < 0 {
					outermost = i
				}
			}
		case opLocalGet:
			gets[localOf(code, in)] = append(gets[localOf(code, in)], i)
		case opLocalSet, opLocalTee:
			sets[localOf(code, in)] = append(sets[localOf(code, in)], i)
		}
	}
	fixed := func(local uint32) bool { // while the loop around runs
		s := sets[local]
		return len(s) == 0 || s[len(s)-1] < outermost
	}
	values, gone := map[uint32][]byte{}, map[int]bool{}
	for local, s := range sets {
		set := s[0]
		if len(s) > 1 || set < outermost || set > inner || len(gets[local]) == 0 || gets[local][0] < set {
			continue
		}
		first := valueOf(code, all[:set], fixed)
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
