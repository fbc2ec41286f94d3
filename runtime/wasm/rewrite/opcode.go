package rewrite

// The instructions that are read or written by name.
const (
	opUnreachable  = 0x00
	opBlock        = 0x02
	opLoop         = 0x03
	opIf           = 0x04
	opElse         = 0x05
	opTry          = 0x06
	opCatch        = 0x07
	opThrow        = 0x08
	opRethrow      = 0x09
	opThrowRef     = 0x0a
	opEnd          = 0x0b
	opBr           = 0x0c
	opBrIf         = 0x0d
	opBrTable      = 0x0e
	opReturn       = 0x0f
	opCall         = 0x10
	opCallIndirect = 0x11
	opReturnCall   = 0x12
	opReturnTable  = 0x13 // return_call_indirect
	opDelegate     = 0x18
	opCatchAll     = 0x19
	opDrop         = 0x1a
	opSelectTyped  = 0x1c
	opTryTable     = 0x1f
	opLocalGet     = 0x20
	opLocalSet     = 0x21
	opLocalTee     = 0x22
	opGlobalGet    = 0x23
	opGlobalSet    = 0x24
	opTableGet     = 0x25
	opTableSet     = 0x26
	opI32Const     = 0x41
	opI64Const     = 0x42
	opF32Const     = 0x43
	opF64Const     = 0x44
	opI32Eqz       = 0x45
	opI32Eq        = 0x46
	opI32LtS       = 0x48
	opI32LeS       = 0x4c
	opI64GtU       = 0x56
	opI32Add       = 0x6a
	opI32Sub       = 0x6b
	opI32And       = 0x71
	opI32ShrU      = 0x76
	opI64Add       = 0x7c
	opI64ExtendU   = 0xad
	opI32FromF32   = 0xbc // i32.reinterpret_f32
	opF32FromI32   = 0xbe
	opRefNull      = 0xd0
	opRefFunc      = 0xd2
	opMisc         = 0xfc
	opSIMD         = 0xfd
	opAtomic       = 0xfe

	miscMemoryInit = 8
	miscDataDrop   = 9
	miscMemoryCopy = 10
	miscMemoryFill = 11
	miscTableInit  = 12
	miscElemDrop   = 13
	miscTableCopy  = 14
	miscTableGrow  = 15
	miscTableSize  = 16
	miscTableFill  = 17

	simdConst   = 12
	simdExtract = 29 // i64x2.extract_lane
	simdReplace = 30
	simdSplat   = 18

	blockEmpty = 0x40
)

// skip steps over the immediates of an instruction that stays as it is. Block
// types, and all that holds an index, are read elsewhere.
func (r *reader) skip(op byte) {
	switch {
	case op >= 0x28 && op <= 0x3e: // loads and stores
		r.memarg()
	case op == 0x3f, op == 0x40: // memory.size, memory.grow
		r.byte()
	case op == opI32Const:
		r.signed(32)
	case op == opI64Const:
		r.signed(64)
	case op == opF32Const:
		r.take(4)
	case op == opF64Const:
		r.take(8)
	case op == opRefNull:
		readRefType(r)
	case op == opSelectTyped:
		r.each(1, "types of a select", func() { readType(r) })
	case op == opSIMD:
		r.skipSIMD()
	case op == opAtomic:
		r.skipAtomic()
	case op <= 0x01, op == opElse, op == opEnd, op == opReturn, op == opDrop, op == 0x1b, op >= opI32Eqz && op <= 0xc4, op == 0xd1:
		// no immediates
	default:
		r.fail("the instruction %#x is not supported", op)
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
