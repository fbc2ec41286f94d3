package fuel

import (
	"encoding/binary"
	"os"
	"slices"
	"testing"
)

// quickjs is the module of the npm package, as it is.
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

// TestShorterWay: in one function of QuickJS each instruction finds the next by one table,
// which leads where the two led, and asks no more whether it is to be printed.
func TestShorterWay(t *testing.T) {
	l, changed := quickjs(t), 0
	for i, code := range l.code {
		short := l.interpreting(code)
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
				if printing(code, all[j:]) > 0 {
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

// number is what the pinned module's table of numbers has for an instruction, less the
// first of them.
func number(l layout, instruction int) uint32 {
	const table, first = 0x10a450, 2
	return binary.LittleEndian.Uint32(l.memory(table, 4*bytecodes)[4*instruction:]) - first
}

// longestTable is where the longest br_table of a body leads.
func longestTable(code []byte) (labels []uint32) {
	var longest span
	for _, in := range instructions(code) {
		if code[in.start] == opBrTable && in.end-in.start > longest.end-longest.start {
			longest = in
		}
	}
	r := &reader{b: code, at: longest.start + 1}
	for range r.u32() + 1 {
		labels = append(labels, r.u32())
	}
	return labels
}

// TestReleases: what lets go of a value looks at it first.
func TestReleases(t *testing.T) {
	l := quickjs(t)
	var changed []uint32
	for i, code := range l.code {
		if looking := l.releasing(i, code); len(looking) != len(code) {
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
