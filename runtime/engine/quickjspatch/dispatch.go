package quickjspatch

import (
	"bytes"
	"encoding/binary"

	"github.com/pages-toolchain/pages/runtime/wasmbinary"
	"github.com/pages-toolchain/pages/runtime/wasmbinary/op"
)

// This file shortens the way from one instruction of QuickJS's bytecode to the next, which
// is most of what an interpreter does.
//
// The address of a label, of which QuickJS keeps one for each instruction (dispatch_table
// of JS_CallInternal), is in WebAssembly a number that was written to memory and a br_table
// that takes it: two tables for each instruction, one behind a check of its bounds. They
// become one.
//
// The module was compiled to print each instruction before it runs, for who works on
// QuickJS (JS_DUMP_BYTECODE_STEP), and asks each time whether it shall: two loads, each with
// a check of its bounds, in over two hundred places. Nobody asks for that here, and the
// question goes.

const (
	// bytecodes is how many instructions there can be: each is a byte.
	bytecodes = 256
)

// shortenDispatch returns code with the shorter way and lighter, if it is what runs bytecode,
// and any other code as it is.
func (l layout) shortenDispatch(code []byte) []byte {
	var out []byte
	kept, dispatches := 0, false
	all := instructions(code)
	for i, in := range all {
		if targets := l.targets(code, all[:i], in); targets != nil {
			dispatches = true
			out = append(append(out, code[kept:all[i-tableSteps].start]...), op.BrTable)
			out = op.AppendU32(out, uint32(len(targets)-1))
			for _, t := range targets {
				out = op.AppendU32(out, t)
			}
			kept = in.end
		}
		if end := matchPrint(code, all[i:]); end > 0 {
			start := in.start
			if i > 0 && bytes.Equal(code[all[i-1].start:start], []byte{op.I32Load, 2, 0}) {
				start = all[i-1].start // the runtime, which is looked up for this alone
			}
			out = append(append(out, code[kept:start]...), op.Drop)
			kept = end
		}
	}
	if !dispatches {
		return code
	}
	return rematerialize(append(out, code[kept:]...))
}

// tableSteps is how many instructions take a byte to the number that a br_table takes:
//
//	i32.const 2, i32.shl, i32.load table, i32.const first, i32.sub
const tableSteps = 5

// targets are where a br_table leads for each byte; nil for any other instruction, and when
// it takes no number that was looked up for a byte, as i32.load8_u and local.tee have it.
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

// matchPrint returns where the printing of an instruction ends that begins with the first of
// some instructions; 0 for any others:
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
