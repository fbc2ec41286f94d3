package op

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
