// Package op has the opcodes of WebAssembly by name, and the LEB128 numbers that follow them.
//
// The names are those of the text format without dots. Pure constants and functions; nothing is validated.
package op

// The instructions that this project reads or writes by name.
const (
	Unreachable  = 0x00
	Block        = 0x02
	Loop         = 0x03
	If           = 0x04
	Else         = 0x05
	Try          = 0x06
	Catch        = 0x07
	Throw        = 0x08
	Rethrow      = 0x09
	ThrowRef     = 0x0a
	End          = 0x0b
	Br           = 0x0c
	BrIf         = 0x0d
	BrTable      = 0x0e
	Return       = 0x0f
	Call         = 0x10
	CallIndirect = 0x11
	ReturnCall   = 0x12
	ReturnTable  = 0x13 // return_call_indirect
	Delegate     = 0x18
	CatchAll     = 0x19
	Drop         = 0x1a
	Select       = 0x1b
	SelectTyped  = 0x1c
	TryTable     = 0x1f
	LocalGet     = 0x20
	LocalSet     = 0x21
	LocalTee     = 0x22
	GlobalGet    = 0x23
	GlobalSet    = 0x24
	TableGet     = 0x25
	TableSet     = 0x26
	I32Load      = 0x28
	I64Load      = 0x29
	I32Load8U    = 0x2d
	I32Load16U   = 0x2f
	I64Load32U   = 0x35
	I32Store     = 0x36
	I64Store     = 0x37
	I32Store8    = 0x3a
	I32Store16   = 0x3b
	I32Const     = 0x41
	I64Const     = 0x42
	F32Const     = 0x43
	F64Const     = 0x44
	I32Eqz       = 0x45
	I32Eq        = 0x46
	I32Ne        = 0x47
	I32LtS       = 0x48
	I32LtU       = 0x49
	I32GtS       = 0x4a
	I32GtU       = 0x4b
	I32LeS       = 0x4c
	I32LeU       = 0x4d
	I32GeS       = 0x4e
	I32GeU       = 0x4f
	I64Eq        = 0x51
	I64Ne        = 0x52
	I64LtS       = 0x53
	I64LtU       = 0x54
	I64GtS       = 0x55
	I64GtU       = 0x56
	I64LeU       = 0x58
	I64GeS       = 0x59
	I32Ctz       = 0x68
	I32Add       = 0x6a
	I32Sub       = 0x6b
	I32Mul       = 0x6c
	I32And       = 0x71
	I32Or        = 0x72
	I32Xor       = 0x73
	I32Shl       = 0x74
	I32ShrU      = 0x76
	I32Rotl      = 0x77
	I64Ctz       = 0x7a
	I64Add       = 0x7c
	I64Sub       = 0x7d
	I64Mul       = 0x7e
	I64And       = 0x83
	I64Xor       = 0x85
	I64ShrU      = 0x88
	I64Shl       = 0x86
	I32WrapI64   = 0xa7
	I64ExtendU   = 0xad
	I32FromF32   = 0xbc // i32.reinterpret_f32
	F32FromI32   = 0xbe
	RefNull      = 0xd0
	RefFunc      = 0xd2
	Misc         = 0xfc
	SIMD         = 0xfd
	Atomic       = 0xfe

	MiscMemoryInit = 8
	MiscDataDrop   = 9
	MiscMemoryCopy = 10
	MiscMemoryFill = 11
	MiscTableInit  = 12
	MiscElemDrop   = 13
	MiscTableCopy  = 14
	MiscTableGrow  = 15
	MiscTableSize  = 16
	MiscTableFill  = 17

	SIMDConst   = 12
	SIMDExtract = 29 // i64x2.extract_lane
	SIMDReplace = 30
	SIMDSplat   = 18

	BlockEmpty = 0x40
)

// AppendU32 appends v as unsigned LEB128.
func AppendU32(out []byte, v uint32) []byte {
	for ; v >= 0x80; v >>= 7 {
		out = append(out, byte(v)|0x80)
	}
	return append(out, byte(v))
}

// AppendS32 appends v as signed LEB128.
func AppendS32(out []byte, v int32) []byte { return AppendS64(out, int64(v)) }

// AppendS64 appends v as signed LEB128.
func AppendS64(out []byte, v int64) []byte {
	for ; v < -64 || v > 63; v >>= 7 {
		out = append(out, byte(v)|0x80)
	}
	return append(out, byte(v)&0x7f)
}
