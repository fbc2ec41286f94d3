package wasmbinary

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/pages-toolchain/pages/runtime/wasmbinary/op"
)

// Reader steps over a module's bytes. The first fault stays in Err, and reads after it return zeros.
type Reader struct {
	Bytes []byte
	At    int // the next byte
	From  int // the offset of Bytes in the module
	Err   error
}

// More reports whether there are bytes left, and no fault.
func (r *Reader) More() bool { return r.Err == nil && r.At < len(r.Bytes) }

// Fail notes a fault at the next byte, unless there is one.
func (r *Reader) Fail(format string, args ...any) {
	if r.Err == nil {
		r.Err = fmt.Errorf("%s @+%d", fmt.Sprintf(format, args...), r.From+r.At)
	}
}

// Byte reads one byte.
func (r *Reader) Byte() byte {
	if !r.More() {
		r.Fail("unexpected end")
		return 0
	}
	r.At++
	return r.Bytes[r.At-1]
}

func (r *Reader) take(n uint32) []byte {
	if r.Err != nil || uint64(n) > uint64(len(r.Bytes)-r.At) {
		r.Fail("unexpected end")
		return nil
	}
	r.At += int(n)
	return r.Bytes[r.At-int(n) : r.At]
}

// sub returns a reader of the next n bytes.
func (r *Reader) sub(n uint32) *Reader {
	from := r.From + r.At
	return &Reader{Bytes: r.take(n), From: from, Err: r.Err}
}

// Finish takes over the fault of a reader of a part, which must be at its end.
func (r *Reader) Finish(part *Reader) {
	if part.Err == nil && part.At != len(part.Bytes) {
		part.Fail("%d bytes too many", len(part.Bytes)-part.At)
	}
	r.Err = errors.Join(r.Err, part.Err)
}

// Vector reads a length and that many bytes.
func (r *Reader) Vector() []byte { return r.take(r.U32()) }

func (r *Reader) name() string {
	s := string(r.Vector())
	if !utf8.ValidString(s) {
		r.Fail("a name is not UTF-8")
	}
	return s
}

// U32 reads an unsigned LEB128 number of at most 32 bits.
func (r *Reader) U32() uint32 {
	var v uint64
	for shift := 0; shift < 35; shift += 7 {
		b := r.Byte()
		v |= uint64(b&0x7f) << shift
		if b < 0x80 {
			if v > 1<<32-1 {
				break
			}
			return uint32(v)
		}
	}
	r.Fail("a number of more than 32 bits")
	return 0
}

// Signed reads a signed LEB128 number of at most so many bits.
func (r *Reader) Signed(bits int) int64 {
	var v int64
	for shift := 0; shift < bits; shift += 7 {
		b := r.Byte()
		v |= int64(b&0x7f) << shift
		if b >= 0x80 {
			continue
		}
		if shift += 7; shift < 64 && b&0x40 != 0 {
			v |= -1 << shift
		}
		if limit := int64(1) << (bits - 1); bits < 64 && (v >= limit || v < -limit) {
			break
		}
		return v
	}
	r.Fail("a number of more than %d bits", bits)
	return 0
}

// Index reads an index that must be less than n.
func (r *Reader) Index(n int, what string) uint32 {
	i := r.U32()
	if int64(i) >= int64(n) {
		r.Fail("%s %d does not exist", what, i)
		return 0
	}
	return i
}

// Skip steps over the immediates of an instruction without a block type or an index.
func (r *Reader) Skip(opcode byte) {
	switch {
	case opcode >= 0x28 && opcode <= 0x3e: // loads and stores
		r.memarg()
	case opcode == 0x3f, opcode == 0x40: // memory.size, memory.grow
		r.MemoryIndex()
	case opcode == op.I32Const:
		r.Signed(32)
	case opcode == op.I64Const:
		r.Signed(64)
	case opcode == op.F32Const:
		r.take(4)
	case opcode == op.F64Const:
		r.take(8)
	case opcode == op.RefNull:
		r.heapType()
	case opcode == op.SelectTyped:
		r.Each(1, "types of a select", func() { ReadType(r) })
	case opcode == op.SIMD:
		r.skipSIMD()
	case opcode == op.Atomic:
		const fence = 3
		if r.U32() == fence {
			r.Byte()
		} else {
			r.memarg()
		}
	case opcode <= 0x01, opcode == op.Else, opcode == op.End, opcode == op.Return, opcode == op.Drop, opcode == 0x1b,
		opcode >= op.I32Eqz && opcode <= 0xc4, opcode == 0xd1:
		// no immediates
	default:
		r.unknown(opcode)
	}
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
		const lastRelaxed = 0x12f
		if sub <= lastRelaxed {
			r.lack(RelaxedSIMD)
		}
		r.Fail("the instruction 0xfd %#x is not supported", sub)
	}
}

// memarg steps over the alignment and the offset of an access.
func (r *Reader) memarg() {
	const otherMemory = 1 << 6 // an index follows
	if r.U32()&otherMemory != 0 {
		r.lack(MultipleMemory)
	}
	r.U32()
}
