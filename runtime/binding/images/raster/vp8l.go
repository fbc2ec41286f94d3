package raster

import (
	"errors"
	"image"
)

// This file reads a lossless WebP up to its pixels (WebP lossless bitstream specification, sections 4 to 6) to count its
// groups of prefix codes, for which golang.org/x/image/vp8l allocates tables. No header has their number.

// Alphabets of the prefix codes of a group (section 6.2).
const (
	vp8lLiterals  = 256
	vp8lLengths   = 24
	vp8lDistances = 40
	vp8lCodes     = 5 // codes of a group
)

// vp8lGroups is the limit of package vp8l, and about the maximum of any encoder.
const vp8lGroups = 2600

var errVP8L = errors.New("webp: the lossless image is not valid")

// VP8LBytes is the maximum memory of golang.org/x/image/vp8l for a lossless image beside its pixels. stream is the image without its header
// of five bytes, as in an ALPH chunk. It fails for an image that cannot be decoded, and when check fails, which it calls from time to time.
func VP8LBytes(stream []byte, size image.Point, check func() error) (int64, error) {
	r := vp8lReader{bits: bitReader{rest: stream}, check: check}
	groups, cache := r.groups(size)
	switch {
	case r.err != nil:
		return 0, r.err
	case r.bits.short:
		return 0, errVP8L
	}
	// A group has a table for each code, and two nodes a symbol, in an allocation up to an eighth larger.
	const table, node = 24 + 4<<7, 8
	symbols := vp8lLiterals + vp8lLengths + cache + 3*vp8lLiterals + vp8lDistances
	return int64(groups) * (vp8lCodes*table + int64(2*node*symbols)*9/8), nil
}

// vp8lReader reads the bits of a lossless image. The first error stays.
type vp8lReader struct {
	bits  bitReader
	check func() error
	err   error
}

func (r *vp8lReader) fail() {
	if r.err == nil {
		r.err = errVP8L
	}
}

// atEnd reports whether there is no more to read.
func (r *vp8lReader) atEnd() bool { return r.err != nil || r.bits.short }

// Kinds of transforms (section 4).
const (
	vp8lPredictor = iota
	vp8lCrossColor
	vp8lSubtractGreen
	vp8lColorIndexing
)

// groups reads up to the prefix codes of the pixels. It returns the number of their groups and of the colour cache's entries.
func (r *vp8lReader) groups(size image.Point) (groups, cache int) {
	var seen [4]bool
	for r.bits.read(1) == 1 && !r.atEnd() {
		kind := r.bits.read(2)
		if seen[kind] {
			r.fail()
		}
		seen[kind] = true
		switch kind {
		case vp8lPredictor, vp8lCrossColor:
			r.image(tiles(size, 2+int(r.bits.read(3))), nil)
		case vp8lColorIndexing:
			colors := 1 + int(r.bits.read(8))
			r.image(image.Pt(colors, 1), nil)
			size = tiles(image.Pt(size.X, 1), packingBits(colors)).Add(image.Pt(0, size.Y-1))
		}
	}
	cache = r.cache()
	if r.bits.read(1) == 0 {
		return 1, cache
	}
	var used [vp8lGroups]bool
	tiled := tiles(size, 2+int(r.bits.read(3)))
	r.image(tiled, &used)
	last, distinct := 0, 0
	for i := range used {
		if used[i] {
			last = i
			distinct++
		}
	}
	if last >= 1000 || int64(last) >= area(tiled) { // as in package vp8l
		return distinct, cache
	}
	return last + 1, cache
}

// tiles is the number of squares of 1<<bits pixels that cover an image.
func tiles(size image.Point, bits int) image.Point {
	all := 1<<bits - 1
	return image.Pt((size.X+all)>>bits, (size.Y+all)>>bits)
}

// packingBits is the number of pixels that share one, as a power of two, for a number of colours (section 4.4).
func packingBits(colors int) int {
	switch {
	case colors <= 2:
		return 3
	case colors <= 4:
		return 2
	case colors <= 16:
		return 1
	}
	return 0
}

func (r *vp8lReader) cache() int {
	if r.bits.read(1) == 0 {
		return 0
	}
	bits := r.bits.read(4)
	if bits < 1 || bits > 11 {
		r.fail()
	}
	return 1 << bits
}

// image reads an image that the pixels are made with. With used, it marks the groups that red and green name. Only a literal
// adds a new group: the rest repeats earlier pixels, or the initial zero of the cache.
func (r *vp8lReader) image(size image.Point, used *[vp8lGroups]bool) {
	cache := r.cache()
	var codes [vp8lCodes]prefixCode
	for i, symbols := range [vp8lCodes]int{vp8lLiterals + vp8lLengths + cache, vp8lLiterals, vp8lLiterals, vp8lLiterals, vp8lDistances} {
		if codes[i] = r.code(symbols); r.atEnd() {
			return
		}
	}
	const checkEvery = 1 << 14 // pixels
	for left, next := area(size), area(size); left > 0 && !r.atEnd(); {
		if left <= next {
			next = left - checkEvery
			if r.err = r.check(); r.err != nil {
				return
			}
		}
		green, count := codes[0].next(&r.bits), int64(1)
		switch {
		case green < vp8lLiterals:
			group := codes[1].next(&r.bits)<<8 | green
			codes[2].next(&r.bits)
			codes[3].next(&r.bits)
			if used != nil && group >= vp8lGroups {
				r.fail()
			} else if used != nil {
				used[group] = true
			}
		case green < vp8lLiterals+vp8lLengths:
			count = r.param(green - vp8lLiterals)
			r.param(codes[4].next(&r.bits))
		case used != nil:
			used[0] = true // of an empty entry
		}
		if left -= count; left < 0 {
			r.fail()
		}
	}
}

// param reads a length or a distance (section 5.2.2).
func (r *vp8lReader) param(symbol int) int64 {
	if symbol < 4 {
		return int64(symbol) + 1
	}
	extra := (symbol - 2) >> 1
	return int64(2+symbol&1)<<extra + int64(r.bits.read(extra)) + 1
}

// code reads a prefix code of an alphabet (section 6.2.1).
func (r *vp8lReader) code(symbols int) prefixCode {
	lengths := make([]uint8, symbols)
	if r.bits.read(1) == 0 {
		r.lengths(lengths)
		return r.newCode(lengths)
	}
	two, wide := r.bits.read(1) == 1, r.bits.read(1) == 1
	first := r.bits.read(1)
	if wide {
		first |= r.bits.read(7) << 1
	}
	code := prefixCode{symbols: []uint16{uint16(first)}} // of 8 bits
	if two {
		code.counts[1] = 2
		code.symbols = append(code.symbols, uint16(r.bits.read(8)))
	}
	for _, symbol := range code.symbols {
		if int(symbol) >= symbols {
			r.fail()
		}
	}
	return code
}

func (r *vp8lReader) newCode(lengths []uint8) prefixCode {
	code, ok := newPrefixCode(lengths)
	if !ok {
		r.fail()
	}
	return code
}

// vp8lOrder is the order in which the lengths of the code of lengths come.
var vp8lOrder = [19]uint8{17, 18, 0, 1, 2, 3, 4, 5, 16, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}

// lengths reads the lengths of a code's symbols, which are coded themselves, into zeros.
func (r *vp8lReader) lengths(into []uint8) {
	var own [19]uint8
	for _, symbol := range vp8lOrder[:min(4+int(r.bits.read(4)), len(vp8lOrder))] {
		own[symbol] = uint8(r.bits.read(3)) // of 3 bits
	}
	code, most := r.newCode(own[:]), len(into)
	if r.bits.read(1) == 1 {
		most = 2 + int(r.bits.read(2+2*int(r.bits.read(3))))
		if most > len(into) {
			r.fail()
		}
	}
	last := uint8(8)
	for rest := into; len(rest) > 0 && most > 0 && !r.atEnd(); most-- {
		length, count := uint8(code.next(&r.bits)), 1 // below 19
		switch length {
		case 16:
			length, count = last, 3+int(r.bits.read(2))
		case 17:
			length, count = 0, 3+int(r.bits.read(3))
		case 18:
			length, count = 0, 11+int(r.bits.read(7))
		default:
			if length != 0 {
				last = length
			}
		}
		if count > len(rest) {
			r.fail()
			return
		}
		for i := range count {
			rest[i] = length
		}
		rest = rest[count:]
	}
}

// bitReader reads bits, the lowest of each byte first.
type bitReader struct {
	rest  []byte
	ahead uint64 // bits taken from rest
	n     int    // how many
	short bool   // fewer bits than requested
}

// read returns the next n bits, 32 at most; zero if there are fewer.
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

const longestCode = 15

// prefixCode is a canonical prefix code: shorter codes come first, and those of one length in the order of their symbols.
type prefixCode struct {
	counts  [longestCode + 1]uint16 // of symbols, by length; none for a single symbol, which takes no bits
	symbols []uint16                // by code
}

// newPrefixCode is the code of symbols with these lengths, zero for those that do not occur. It reports whether every code has
// one symbol.
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
