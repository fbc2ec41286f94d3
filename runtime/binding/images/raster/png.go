package raster

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"io"
)

// This file reads PNG row by row (PNG specification, third edition), with the same RGBA pixels as package image/png, which
// needs the whole image.

// Colour types of a PNG (section 11.2.1).
const (
	pngGray      = 0
	pngColor     = 2
	pngPalette   = 3
	pngGrayAlpha = 4
	pngAlpha     = 6
)

// pngChannels is the number of samples of a pixel, by colour type.
var pngChannels = map[uint8]int{pngGray: 1, pngColor: 3, pngPalette: 1, pngGrayAlpha: 2, pngAlpha: 4}

// zlibBytes is the memory of inflating: a window of 32 KiB and its tables.
const zlibBytes = 64 << 10

// PNG is the rows of a PNG file that is not interlaced.
type PNG struct {
	header
	depth     int // bits of a sample
	kind      uint8
	single    *[256][4]uint8 // the colour of each sample, if a pixel has one of 8 bits at most
	clear     []byte         // the samples of the transparent colour, 16 bits each; nil for none
	data      chunkReader
	inflated  io.Reader
	row, last []uint8 // bytes of the current row after that of its filter, and of the one before
	out       []uint8
	y         int
}

// NewPNG reads a PNG up to its pixels. It calls check before each piece of the file. It refuses an interlaced PNG, whose rows
// need the whole file.
func NewPNG(data []byte, check func() error) (*PNG, error) {
	rest, ok := bytes.CutPrefix(data, []byte("\x89PNG\r\n\x1a\n"))
	kind, head, rest, err := nextChunk(rest)
	if !ok || err != nil || kind != "IHDR" || len(head) != 13 {
		return nil, errors.New("png: the header is missing")
	}
	p := &PNG{depth: int(head[8]), kind: head[9]}
	p.size = image.Pt(int(binary.BigEndian.Uint32(head)), int(binary.BigEndian.Uint32(head[4:])))
	p.bytes = 2*int64(1+p.fileRowBytes()) + rowBytes(p.size) + zlibBytes
	switch {
	case p.size.X <= 0 || p.size.Y <= 0 || p.size.X > 1<<30 || p.size.Y > 1<<30:
		return nil, errors.New("png: the size is not valid")
	case !p.validDepth():
		return nil, errors.New("png: bit depth and colour type do not go together")
	case head[10] != 0 || head[11] != 0 || head[12] != 0:
		return nil, errors.New("png: it is interlaced, or compressed in a way that is not known")
	}
	var palette, transparent []byte
	for {
		before := rest
		var content []byte
		if kind, content, rest, err = nextChunk(rest); err != nil {
			return nil, err
		}
		switch kind {
		case "PLTE":
			palette = content
		case "tRNS":
			transparent = content
		case "IDAT":
			p.data = chunkReader{rest: before, check: check}
			return p, p.setColours(palette, transparent)
		case "IEND":
			return nil, errors.New("png: the file has no pixels")
		}
	}
}

// validDepth reports whether the colour type allows the depth (table 12).
func (p *PNG) validDepth() bool {
	switch p.depth {
	case 1, 2, 4:
		return p.kind == pngGray || p.kind == pngPalette
	case 8:
		return pngChannels[p.kind] > 0
	case 16:
		return pngChannels[p.kind] > 0 && p.kind != pngPalette
	}
	return false
}

func (p *PNG) setColours(palette, transparent []byte) error {
	channels := pngChannels[p.kind]
	switch {
	case p.kind == pngPalette:
		if len(palette) == 0 || len(palette)%3 != 0 || len(palette) > 3<<p.depth || len(transparent) > 256 {
			return errors.New("png: the palette is not valid")
		}
	case transparent != nil && (p.kind >= pngGrayAlpha || len(transparent) != 2*channels):
		return errors.New("png: the transparent colour is not valid")
	case transparent != nil:
		p.clear = transparent
	}
	if channels > 1 || p.depth > 8 {
		p.opaque = p.kind < pngGrayAlpha && p.clear == nil
		return nil
	}
	p.single, p.opaque = &[256][4]uint8{}, true
	for i := range p.single {
		c := [4]uint8{3: 0xff} // entries that the palette lacks are black
		switch {
		case p.kind == pngGray:
			full := uint8(0xff / (1<<p.depth - 1))
			gray := uint8(i) * full // below 256
			c[0], c[1], c[2] = gray, gray, gray
			if p.clear != nil && p.clear[1]*full == gray {
				c[3] = 0
			}
		case 3*i < len(palette):
			copy(c[:3], palette[3*i:])
			if i < len(transparent) {
				c[3] = transparent[i]
			}
		}
		p.opaque = p.opaque && (c[3] == 0xff || i >= 1<<p.depth)
		alpha := uint32(c[3]) * 0x101
		for channel := range 3 {
			p.single[i][channel] = uint8(uint32(c[channel]) * alpha / 0xff >> 8) // rounded as package draw does
		}
		p.single[i][3] = c[3]
	}
	return nil
}

// fileRowBytes is the length of a row in the file, without its filter byte.
func (p *PNG) fileRowBytes() int { return (p.size.X*p.depth*pngChannels[p.kind] + 7) / 8 }

// Next implements Rows.
func (p *PNG) Next() ([]uint8, error) {
	if p.y == p.size.Y {
		return nil, io.EOF
	}
	if p.inflated == nil {
		inflated, err := zlib.NewReader(&p.data)
		if err != nil {
			return nil, err
		}
		p.inflated = inflated
		p.row, p.last = make([]uint8, 1+p.fileRowBytes()), make([]uint8, 1+p.fileRowBytes())
		p.out = make([]uint8, rowBytes(p.size))
	}
	if _, err := io.ReadFull(p.inflated, p.row); err != nil {
		return nil, unexpectedEOF(err)
	}
	if err := unfilter(p.row, p.last[1:], max(p.depth*pngChannels[p.kind]/8, 1)); err != nil {
		return nil, err
	}
	if p.y++; p.y == p.size.Y {
		if n, err := p.inflated.Read(p.last[:1]); n > 0 {
			return nil, errors.New("png: there are more pixels than its size has")
		} else if !errors.Is(err, io.EOF) {
			return nil, unexpectedEOF(err)
		}
	}
	p.decodeRow(p.row[1:])
	p.row, p.last = p.last, p.row
	return p.out, nil
}

// unexpectedEOF is err, but io.EOF, which is the end of the rows, as io.ErrUnexpectedEOF.
func unexpectedEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

func (p *PNG) decodeRow(row []uint8) {
	wide := p.depth / 8 // bytes of a sample
	switch {
	case p.single != nil:
		each, mask := 8/p.depth, uint8(1<<p.depth-1)
		for x := range p.size.X {
			v := row[x/each] >> ((each - 1 - x%each) * p.depth) & mask
			copy(p.out[x*4:x*4+4], p.single[v][:])
		}
	case p.depth == 8 && p.kind == pngColor && p.clear == nil:
		for x := range p.size.X {
			out, from := p.out[x*4:x*4+4], row[x*3:x*3+3]
			out[0], out[1], out[2], out[3] = from[0], from[1], from[2], 0xff
		}
	default:
		channels := pngChannels[p.kind]
		for x := range p.size.X {
			from := row[x*channels*wide:][:channels*wide]
			copy(p.out[x*4:], p.decodePixel(from, channels, wide))
		}
	}
}

// decodePixel is the colour of a pixel of several samples, or of one of 16 bits.
func (p *PNG) decodePixel(from []uint8, channels, wide int) []uint8 {
	var c [4]uint32 // of 16 bits
	isClear := p.clear != nil
	for i := range channels {
		v := uint32(from[i*wide])
		if wide == 2 {
			v = v<<8 | uint32(from[2*i+1])
			isClear = isClear && v == uint32(binary.BigEndian.Uint16(p.clear[2*i:]))
		} else {
			isClear = isClear && uint8(v) == p.clear[2*i+1]
			v *= 0x101
		}
		c[i] = v
	}
	switch channels {
	case 1:
		c = [4]uint32{c[0], c[0], c[0], 0xffff}
	case 2:
		c = [4]uint32{c[0], c[0], c[0], c[1]}
	case 3:
		c[3] = 0xffff
	}
	if isClear {
		return []uint8{0, 0, 0, 0}
	}
	for i := range 3 {
		c[i] = c[i] * c[3] / 0xffff
	}
	return []uint8{uint8(c[0] >> 8), uint8(c[1] >> 8), uint8(c[2] >> 8), uint8(c[3] >> 8)}
}

// unfilter undoes the filter of a row, whose number is its first byte (section 9). each is the bytes of a pixel.
func unfilter(filtered, above []uint8, each int) error {
	row := filtered[1:]
	above = above[:len(row)]
	switch filtered[0] {
	case 0:
	case 1:
		for i := each; i < len(row); i++ {
			row[i] += row[i-each]
		}
	case 2:
		for i, v := range above {
			row[i] += v
		}
	case 3:
		for i := range row {
			left := 0
			if i >= each {
				left = int(row[i-each])
			}
			row[i] += uint8((left + int(above[i])) / 2) // a mean of bytes
		}
	case 4:
		for i := range row {
			left, corner := 0, 0
			if i >= each {
				left, corner = int(row[i-each]), int(above[i-each])
			}
			row[i] += paeth(left, int(above[i]), corner)
		}
	default:
		return errors.New("png: a row has a filter that is not known")
	}
	return nil
}

// paeth is the neighbour nearest to left + above - corner (section 9.4).
func paeth(left, above, corner int) uint8 {
	a, b := above-corner, left-corner
	c := max(a+b, -a-b)
	a, b = max(a, -a), max(b, -b)
	switch {
	case a <= b && a <= c:
		return uint8(left) // it was one
	case b <= c:
		return uint8(above) // it was one
	}
	return uint8(corner) // it was one
}

// nextChunk returns the first chunk of a file's rest, and checks its checksum (section 5.3).
func nextChunk(data []byte) (kind string, content, rest []byte, err error) {
	if len(data) < 12 {
		return "", nil, nil, io.ErrUnexpectedEOF
	}
	n := int64(binary.BigEndian.Uint32(data))
	if n+12 > int64(len(data)) {
		return "", nil, nil, io.ErrUnexpectedEOF
	}
	if crc32.ChecksumIEEE(data[4:8+n]) != binary.BigEndian.Uint32(data[8+n:]) {
		return "", nil, nil, errors.New("png: a checksum is wrong")
	}
	return string(data[4:8]), data[8 : 8+n], data[12+n:], nil
}

// chunkReader reads the contents of the IDAT chunks at the begin of a file's rest.
type chunkReader struct {
	rest, content []byte
	check         func() error
}

// piece bounds the bytes between two calls of check.
const piece = 4 << 10

func (r *chunkReader) Read(into []byte) (int, error) {
	if err := r.check(); err != nil {
		return 0, err
	}
	for len(r.content) == 0 {
		kind, content, rest, err := nextChunk(r.rest)
		if err != nil {
			return 0, err
		}
		if kind != "IDAT" {
			return 0, io.ErrUnexpectedEOF
		}
		r.content, r.rest = content, rest
	}
	n := copy(into[:min(len(into), piece)], r.content)
	r.content = r.content[n:]
	return n, nil
}
