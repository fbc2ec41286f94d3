package rewrite

import (
	"errors"
	"fmt"
	"unicode/utf8"
)

// reader steps over a module's bytes. The first fault stays in err, and reads
// after it return zeros.
type reader struct {
	b    []byte
	at   int
	from int // of b in the module
	err  error
}

func (r *reader) more() bool { return r.err == nil && r.at < len(r.b) }

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("%s @+%d", fmt.Sprintf(format, args...), r.from+r.at)
	}
}

func (r *reader) byte() byte {
	if !r.more() {
		r.fail("unexpected end")
		return 0
	}
	r.at++
	return r.b[r.at-1]
}

func (r *reader) take(n uint32) []byte {
	if r.err != nil || uint64(n) > uint64(len(r.b)-r.at) {
		r.fail("unexpected end")
		return nil
	}
	r.at += int(n)
	return r.b[r.at-int(n) : r.at]
}

// sub is a reader of the next n bytes.
func (r *reader) sub(n uint32) *reader {
	from := r.from + r.at
	return &reader{b: r.take(n), from: from, err: r.err}
}

// done takes over the fault of a reader of a part, which must be at its end.
func (r *reader) done(part *reader) {
	if part.err == nil && part.at != len(part.b) {
		part.fail("%d bytes too many", len(part.b)-part.at)
	}
	r.err = errors.Join(r.err, part.err)
}

func (r *reader) name() string {
	s := string(r.take(r.u32()))
	if !utf8.ValidString(s) {
		r.fail("a name is not UTF-8")
	}
	return s
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
	r.fail("a number of more than 32 bits")
	return 0
}

// signed reads a signed LEB128 number of at most so many bits.
func (r *reader) signed(bits int) int64 {
	var v int64
	for shift := 0; shift < bits; shift += 7 {
		b := r.byte()
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
	r.fail("a number of more than %d bits", bits)
	return 0
}

// below reads an index that must be less than n.
func (r *reader) below(n int, what string) uint32 {
	i := r.u32()
	if int64(i) >= int64(n) {
		r.fail("%s %d does not exist", what, i)
		return 0
	}
	return i
}
