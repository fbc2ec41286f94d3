package wasmbinary

import "github.com/pages-toolchain/pages/runtime/wasmbinary/op"

// Skip steps over the immediates of an instruction that stays as it is. Block
// types, and all that holds an index, are read elsewhere.
func (r *Reader) Skip(opcode byte) {
	switch {
	case opcode >= 0x28 && opcode <= 0x3e: // loads and stores
		r.memarg()
	case opcode == 0x3f, opcode == 0x40: // memory.size, memory.grow
		r.Byte()
	case opcode == op.I32Const:
		r.Signed(32)
	case opcode == op.I64Const:
		r.Signed(64)
	case opcode == op.F32Const:
		r.take(4)
	case opcode == op.F64Const:
		r.take(8)
	case opcode == op.RefNull:
		readRefType(r)
	case opcode == op.SelectTyped:
		r.Each(1, "types of a select", func() { ReadType(r) })
	case opcode == op.SIMD:
		r.skipSIMD()
	case opcode == op.Atomic:
		r.skipAtomic()
	case opcode <= 0x01, opcode == op.Else, opcode == op.End, opcode == op.Return, opcode == op.Drop, opcode == 0x1b,
		opcode >= op.I32Eqz && opcode <= 0xc4, opcode == 0xd1:
		// no immediates
	default:
		r.Fail("the instruction %#x is not supported", opcode)
	}
}

func (r *Reader) memarg() {
	r.U32()
	r.U32()
}

func (r *Reader) skipSIMD() {
	switch sub := r.U32(); {
	case sub <= 11, sub == 92, sub == 93:
		r.memarg()
	case sub == op.SIMDConst, sub == 13:
		r.take(16)
	case sub >= 21 && sub <= 34:
		r.Byte()
	case sub >= 84 && sub <= 91:
		r.memarg()
		r.Byte()
	case sub > 255:
		r.Fail("the instruction 0xfd %#x is not supported", sub)
	}
}

func (r *Reader) skipAtomic() {
	const fence = 3
	if sub := r.U32(); sub == fence {
		r.Byte()
		return
	}
	r.memarg()
}
