package rewrite

// skip steps over the immediates of an instruction that stays as it is. Block
// types, and all that holds an index, are read elsewhere.
func (r *reader) skip(opcode byte) {
	switch {
	case opcode >= 0x28 && opcode <= 0x3e: // loads and stores
		r.memarg()
	case opcode == 0x3f, opcode == 0x40: // memory.size, memory.grow
		r.byte()
	case opcode == opI32Const:
		r.signed(32)
	case opcode == opI64Const:
		r.signed(64)
	case opcode == opF32Const:
		r.take(4)
	case opcode == opF64Const:
		r.take(8)
	case opcode == opRefNull:
		readRefType(r)
	case opcode == opSelectTyped:
		r.each(1, "types of a select", func() { readType(r) })
	case opcode == opSIMD:
		r.skipSIMD()
	case opcode == opAtomic:
		r.skipAtomic()
	case opcode <= 0x01, opcode == opElse, opcode == opEnd, opcode == opReturn, opcode == opDrop, opcode == 0x1b, opcode >= opI32Eqz && opcode <= 0xc4, opcode == 0xd1:
		// no immediates
	default:
		r.fail("the instruction %#x is not supported", opcode)
	}
}

func (r *reader) memarg() {
	r.u32()
	r.u32()
}

func (r *reader) skipSIMD() {
	switch sub := r.u32(); {
	case sub <= 11, sub == 92, sub == 93:
		r.memarg()
	case sub == simdConst, sub == 13:
		r.take(16)
	case sub >= 21 && sub <= 34:
		r.byte()
	case sub >= 84 && sub <= 91:
		r.memarg()
		r.byte()
	case sub > 255:
		r.fail("the instruction 0xfd %#x is not supported", sub)
	}
}

func (r *reader) skipAtomic() {
	const fence = 3
	if sub := r.u32(); sub == fence {
		r.byte()
		return
	}
	r.memarg()
}
