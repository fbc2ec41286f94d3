package raster

// bitReader reads bits, the lowest of each byte first.
type bitReader struct {
	rest  []byte
	ahead uint64 // bits taken from rest
	n     int    // how many
	short bool   // there were fewer than were asked for
}

// read is the next n bits, 32 at most; zero where there are not as many.
func (b *bitReader) read(n int) uint32 {
	for b.n < n {
		if len(b.rest) == 0 {
			b.short = true
			return 0
		}
		b.ahead |= uint64(b.rest[0]) << b.n
		b.rest = b.rest[1:]
		b.n += 8
	}
	v := uint32(b.ahead & (1<<n - 1)) // of 32 bits at most
	b.ahead >>= n
	b.n -= n
	return v
}

// longestCode is the most bits of a symbol in a prefixCode.
const longestCode = 15

// prefixCode is a canonical prefix code: shorter codes come first, and those of one length
// in the order of their symbols.
type prefixCode struct {
	counts  [longestCode + 1]uint16 // of symbols, by length; none where there is one symbol, which takes no bits
	symbols []uint16                // by code
}

// newPrefixCode is the code of symbols with such lengths, zero for those that do not occur.
// It reports whether every code has one symbol.
func newPrefixCode(lengths []uint8) (prefixCode, bool) {
	var c prefixCode
	for _, length := range lengths {
		if length > longestCode {
			return c, false
		}
		if length > 0 {
			c.counts[length]++
		}
	}
	left := 1
	var at [longestCode + 2]uint16
	for length := 1; length <= longestCode; length++ {
		left = 2*left - int(c.counts[length])
		if left < 0 {
			return c, false
		}
		at[length+1] = at[length] + c.counts[length]
	}
	c.symbols = make([]uint16, at[longestCode+1])
	for symbol, length := range lengths {
		if length > 0 {
			c.symbols[at[length]] = uint16(symbol) // of an alphabet of a few thousand
			at[length]++
		}
	}
	if len(c.symbols) == 1 {
		c.counts = [longestCode + 1]uint16{}
		return c, true
	}
	return c, left == 0
}

// next reads a symbol.
func (c *prefixCode) next(b *bitReader) int {
	if len(c.symbols) == 1 {
		return int(c.symbols[0])
	}
	code, first, at := 0, 0, 0
	for length := 1; length <= longestCode && !b.short; length++ {
		code |= int(b.read(1))
		count := int(c.counts[length])
		if code-first < count {
			return int(c.symbols[at+code-first])
		}
		at += count
		first = (first + count) << 1
		code <<= 1
	}
	return 0
}
