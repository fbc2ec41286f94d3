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
