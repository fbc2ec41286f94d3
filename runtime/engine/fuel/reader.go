package fuel

import "fmt"

// reader steps over a module's bytes. The first fault stays in err, and reads
// after it return zeros.
type reader struct {
	b   []byte
	at  int
	err error
}

func (r *reader) done() bool { return r.at >= len(r.b) }

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("byte %d: %s", r.at, fmt.Sprintf(format, args...))
	}
}

func (r *reader) byte() byte {
	if r.err != nil || r.done() {
		r.fail("unexpected end")
		return 0
	}
	r.at++
	return r.b[r.at-1]
}

func (r *reader) skip(n int) {
	if n < 0 || n > len(r.b)-r.at {
		r.fail("unexpected end")
		return
	}
	r.at += n
}

// vector reads a length and that many bytes.
func (r *reader) vector() []byte {
	n := int(r.u32())
	start := r.at
	r.skip(n)
	if r.err != nil {
		return nil
	}
	return r.b[start:r.at]
}

func (r *reader) limits() {
	if flags := r.byte(); flags&1 != 0 {
		r.u32()
	}
	r.u32()
}

// u32 reads an unsigned LEB128 number of at most 32 bits.
func (r *reader) u32() uint32 {
	var v uint64
	for shift := 0; shift < 35; shift += 7 {
		b := r.byte()
		v |= uint64(b&0x7f) << shift
		if b < 0x80 {
			if v > 1<<32-1 {
				break
			}
			return uint32(v)
		}
	}
	r.fail("number over 32 bits")
	return 0
}

// s33 steps over a signed LEB128 number; block types and constants are such.
func (r *reader) s33() {
	for range 10 {
		if r.byte() < 0x80 {
			return
		}
	}
	r.fail("number over 64 bits")
}

// s32 reads a signed LEB128 number of at most 32 bits.
func (r *reader) s32() int32 {
	var v int64
	for shift := 0; shift < 35; shift += 7 {
		b := r.byte()
		v |= int64(b&0x7f) << shift
		if b < 0x80 {
			return int32(v << (57 - shift) >> (57 - shift))
		}
	}
	r.fail("number over 32 bits")
	return 0
}

func appendU32(out []byte, v uint32) []byte {
	for v >= 0x80 {
		out = append(out, byte(v)|0x80)
		v >>= 7
	}
	return append(out, byte(v))
}

func appendS32(out []byte, v int32) []byte {
	for v < -64 || v > 63 {
		out = append(out, byte(v)|0x80)
		v >>= 7
	}
	return append(out, byte(v)&0x7f)
}
