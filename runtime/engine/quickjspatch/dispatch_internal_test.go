package quickjspatch

import (
	"encoding/binary"
	"os"
	"slices"
	"testing"

	"github.com/pages-toolchain/pages/runtime/wasmbinary"
	"github.com/pages-toolchain/pages/runtime/wasmbinary/op"
)

// quickjs is the unmodified module of the npm package.
func quickjs(t *testing.T) layout {
	t.Helper()
	module, err := os.ReadFile("../node_modules/quickjs-wasi/quickjs.wasm")
	if err != nil {
		t.Fatalf("%v: run \"make artifacts\" first", err)
	}
	l, err := readLayout(module)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// TestShorterWay: in one function of QuickJS each instruction finds the next through one table, which leads to the same targets as the two
// did, and no longer checks whether to print it.
func TestShorterWay(t *testing.T) {
	l, changed := quickjs(t), 0
	for i, code := range l.code {
		short := l.shortenDispatch(code)
		if len(short) == len(code) {
			continue
		}
		changed++
		labels, direct := longestTable(code), longestTable(short)
		if len(direct) != bytecodes {
			t.Errorf("function %d: a table of %d, want %d", i, len(direct), bytecodes)
			continue
		}
		for b, to := range direct {
			if want := labels[min(number(l, b), uint32(len(labels)-1))]; to != want {
				t.Errorf("function %d: instruction %d leads to %d, not to %d", i, b, to, want)
			}
		}
		asked := func(code []byte) (n int) {
			all := instructions(code)
			for j := range all {
				if matchPrint(code, all[j:]) > 0 {
					n++
				}
			}
			return n
		}
		if before, after := asked(code), asked(short); before < 200 || after != 0 {
			t.Errorf("function %d asks %d times whether to print, %d before", i, after, before)
		}
	}
	if changed != 1 {
		t.Errorf("%d functions were changed, not one", changed)
	}
}

// number is the entry of an instruction in the pinned module's table of numbers, less the
// first one.
func number(l layout, instruction int) uint32 {
	const table, first = 0x10a450, 2
	return binary.LittleEndian.Uint32(l.initialMemory(table, 4*bytecodes)[4*instruction:]) - first
}

// longestTable returns the targets of the longest br_table of a body.
func longestTable(code []byte) (labels []uint32) {
	var longest span
	for _, in := range instructions(code) {
		if code[in.start] == op.BrTable && in.end-in.start > longest.end-longest.start {
			longest = in
		}
	}
	r := &wasmbinary.Reader{Bytes: code, At: longest.start + 1}
	for range r.U32() + 1 {
		labels = append(labels, r.U32())
	}
	return labels
}

// TestReleases: code that frees a value looks at it first.
func TestReleases(t *testing.T) {
	l := quickjs(t)
	var changed []uint32
	for i, code := range l.code {
		if looking := l.inlineFree(i, code); len(looking) != len(code) {
			changed = append(changed, l.imports.funcs+uint32(i))
			if !slices.Equal(looking[len(looking)-6:], code[len(code)-6:]) {
				t.Errorf("function %d ends in another way", i)
			}
		}
	}
	if len(changed) != 3 || !slices.Contains(changed, l.exports["JS_FreeValue"]) || !slices.Contains(changed, l.exports["JS_FreeValueRT"]) {
		t.Errorf("functions %d were changed, not JS_FreeValue, JS_FreeValueRT and set_value", changed)
	}
}

// TestInterpreter checks the loop of QuickJS that runs bytecode: its head counts, the jumps to it that may lead back in the bytecode check
// for interrupts, and no value that can be recomputed lives through it.
func TestInterpreter(t *testing.T) {
	l, found := quickjs(t), 0
	for i, code := range l.code {
		code = l.shortenDispatch(code)
		loop := readInterpreter(code)
		if loop.loop < 0 {
			continue
		}
		found++
		all := instructions(code)
		ways := len(branchesTo(code, all, slices.IndexFunc(all, func(in span) bool { return in.start == loop.loop })))
		if asking := len(loop.turns); ways != 221 || asking != 54 {
			t.Errorf("%d of %d ways to the loop ask, not 54 of 221", asking, ways)
		}
		kept, gone := setLocals(code), 0
		for local := range setLocals(l.code[i]) {
			if !kept[local] {
				gone++
			}
		}
		if gone != 19 {
			t.Errorf("%d values are computed where they are used, not 19", gone)
		}
	}
	if found != 1 {
		t.Errorf("%d functions run bytecode, not one", found)
	}
}

// setLocals are the locals that a body sets.
func setLocals(code []byte) map[uint32]bool {
	set := map[uint32]bool{}
	for _, in := range instructions(code) {
		if code[in.start] == op.LocalSet || code[in.start] == op.LocalTee {
			set[localOf(code, in)] = true
		}
	}
	return set
}

// TestIsNext: only an advance by a fixed number of bytes leads to the next instruction.
func TestIsNext(t *testing.T) {
	const position, after = 8, 6
	add := func(to, from, n byte) []byte {
		return []byte{op.LocalGet, from, op.I32Const, n, op.I32Add, op.LocalSet, to}
	}
	for name, c := range map[string]struct {
		code []byte
		want bool
	}{
		"one byte":            {[]byte{op.LocalGet, after, op.LocalTee, position, op.I32Const, 1, op.I32Add, op.LocalSet, after}, true},
		"five bytes":          {slices.Concat(add(position, after, 4), add(3, 3, 8), add(after, after, 5)), true},
		"with a call between": {slices.Concat(add(position, after, 4), []byte{op.Call, 9}, add(after, after, 5)), true},
		"to where it is":      {slices.Concat(add(position, after, 0), add(after, after, 0)), false},
		"back":                {slices.Concat(add(position, after, 0x7b), add(after, after, 0x7c)), false},
		"two numbers":         {slices.Concat(add(position, after, 4), add(after, after, 6)), false},
		"another local":       {slices.Concat(add(position, 3, 4), add(after, after, 5)), false},
		"a local set between": {slices.Concat(add(position, after, 4), add(after, 3, 1), add(after, after, 5)), false},
		"in a block":          {slices.Concat(add(position, after, 4), []byte{op.End}, add(after, after, 5)), false},
		"of a computed value": {[]byte{op.LocalGet, 3, op.I32Const, 1, op.I32Add, op.LocalSet, after}, false},
		"position alone":      {add(position, after, 1), false},
		"nothing":             {nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			code := append([]byte{0}, c.code...)
			if got := goesToNext(code, instructions(code), position); got != c.want {
				t.Errorf("%s: %v, want %v", name, got, c.want)
			}
		})
	}
}
