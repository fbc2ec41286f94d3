package deflate

import (
	"encoding/binary"
	"math/bits"
)

// This file writes blocks: the symbols of one, its Huffman codes, and the cheapest of its three forms.

const (
	literals    = 256
	endOfBlock  = 256
	lengthCodes = 29
	allCodes    = literals + 1 + lengthCodes
	distCodes   = 30
	lenCodes    = 19 // of the lengths of codes
	heapSize    = 2*allCodes + 1
	maxBits     = 15
	maxLenBits  = 7
	repeat      = 16 // the last length, 3 to 6 times
	zeros       = 17 // 3 to 10 times
	manyZeros   = 18 // 11 to 138 times
)

// node is a leaf or a fork of a tree. code first has the frequency and then the code, len first the parent and then the length.
type node struct{ code, len uint16 }

// kind is a kind of trees.
type kind struct {
	static   []node
	extra    []uint8
	base     int // the first code with extra bits
	elements int
	longest  int
}

//nolint:gochecknoglobals // tables
var (
	extraLength = []uint8{0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0}
	extraDist   = []uint8{
		0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13,
	}
	extraLen = []uint8{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 3, 7}
	lenOrder = []uint8{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}
	fixed    = makeTables()

	literalKind = kind{fixed.literals[:], extraLength, literals + 1, allCodes, maxBits}
	distKind    = kind{fixed.dists[:], extraDist, 0, distCodes, maxBits}
	lenKind     = kind{nil, extraLen, 0, lenCodes, maxLenBits}
)

// tables are the fixed codes, and the codes of lengths and distances with the base of each.
type tables struct {
	literals   [allCodes + 2]node
	dists      [distCodes]node
	lengthCode [256]uint8 // of a length less minMatch
	distCode   [512]uint8 // of a distance less 1 below 256, and of others by their upper bits
	lengthBase [lengthCodes]int
	distBase   [distCodes]int
}

func makeTables() (t tables) {
	n := 0
	for code := range lengthCodes - 1 {
		t.lengthBase[code] = n
		for range 1 << extraLength[code] {
			t.lengthCode[n] = uint8(code)
			n++
		}
	}
	t.lengthCode[255] = lengthCodes - 1
	n = 0
	for code := range distCodes {
		t.distBase[code] = n
		for range 1 << extraDist[code] {
			if n < 256 {
				t.distCode[n] = uint8(code)
			} else {
				t.distCode[256+n>>7] = uint8(code)
			}
			n++
		}
	}
	var counts [maxBits + 1]uint16
	for i := range t.literals {
		length := uint16(8)
		switch {
		case i >= 144 && i < 256:
			length = 9
		case i >= 256 && i < 280:
			length = 7
		}
		t.literals[i].len = length
		counts[length]++
	}
	makeCodes(t.literals[:], len(t.literals)-1, &counts)
	for i := range t.dists {
		t.dists[i] = node{reverse(uint16(i), 5), 5}
	}
	return t
}

func reverse(code, n uint16) uint16 { return bits.Reverse16(code) >> (16 - n) }

// makeCodes gives codes to the elements up to one, by their lengths.
func makeCodes(tree []node, most int, counts *[maxBits + 1]uint16) {
	var next [maxBits + 1]uint16
	code := uint16(0)
	for n := 1; n <= maxBits; n++ {
		code = (code + counts[n-1]) << 1
		next[n] = code
	}
	for i := range most + 1 {
		if n := tree[i].len; n != 0 {
			tree[i].code = reverse(next[n], n)
			next[n]++
		}
	}
}

// symbols are the literals and matches of a block, and its trees.
type symbols struct {
	dist     []uint16 // 0 for a literal
	lit      []uint8  // or a match's length less minMatch
	next     int
	literals [heapSize]node
	dists    [2*distCodes + 1]node
	lens     [2*lenCodes + 1]node

	counts           [maxBits + 1]uint16
	heap             [heapSize]int
	heapLen          int
	heapMax          int
	depth            [heapSize]uint8
	cost, staticCost int // bits
}

func (s *symbols) makeSymbols(size int) {
	s.dist, s.lit = make([]uint16, size), make([]uint8, size)
}

// begin begins a block.
func (s *symbols) begin() {
	for i := range allCodes {
		s.literals[i].code = 0
	}
	for i := range distCodes {
		s.dists[i].code = 0
	}
	for i := range lenCodes {
		s.lens[i].code = 0
	}
	s.literals[endOfBlock].code = 1
	s.cost, s.staticCost, s.next = 0, 0, 0
}

// literal adds a byte, and reports whether the block is full.
func (s *symbols) literal(b byte) bool {
	s.dist[s.next], s.lit[s.next] = 0, b
	s.next++
	s.literals[b].code++
	return s.next == len(s.lit)-1
}

// match adds a match, and reports whether the block is full.
func (s *symbols) match(dist, length int) bool {
	s.dist[s.next], s.lit[s.next] = uint16(dist), uint8(length-minMatch)
	s.next++
	s.literals[int(fixed.lengthCode[length-minMatch])+literals+1].code++
	s.dists[distCode(dist-1)].code++
	return s.next == len(s.lit)-1
}

func distCode(dist int) int {
	if dist < 256 {
		return int(fixed.distCode[dist])
	}
	return int(fixed.distCode[256+dist>>7])
}

// put writes n bits.
func (w *Writer) put(value, n int) {
	w.bits |= uint64(value) << w.bitCount
	if w.bitCount += uint(n); w.bitCount >= 32 {
		w.out = binary.LittleEndian.AppendUint32(w.out, uint32(w.bits))
		w.bits >>= 32
		w.bitCount -= 32
	}
}

func (w *Writer) code(n node) { w.put(int(n.code), int(n.len)) }

// align writes zeros up to the next byte.
func (w *Writer) align() {
	for w.bitCount > 0 {
		w.out = append(w.out, byte(w.bits))
		w.bits >>= 8
		w.bitCount -= min(w.bitCount, 8)
	}
}

// The forms of a block.
const (
	formStored = iota
	formFixed
	formDynamic
)

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (w *Writer) storeBlock(content []byte, end bool) {
	w.put(formStored<<1|bit(end), 3)
	w.align()
	w.out = binary.LittleEndian.AppendUint16(w.out, uint16(len(content)))
	w.out = binary.LittleEndian.AppendUint16(w.out, ^uint16(len(content)))
	w.out = append(w.out, content...)
}

// writeBlock writes the symbols in the cheapest form; known is true if the content is still in the window.
func (w *Writer) writeBlock(content []byte, known bool, size int, end bool) {
	mostLiteral := w.build(w.literals[:], literalKind)
	mostDist := w.build(w.dists[:], distKind)
	w.scan(w.literals[:], mostLiteral)
	w.scan(w.dists[:], mostDist)
	w.build(w.lens[:], lenKind)
	mostLen := lenCodes - 1
	for mostLen > 3 && w.lens[lenOrder[mostLen]].len == 0 {
		mostLen--
	}
	w.cost += 3*(mostLen+1) + 5 + 5 + 4
	dynamic, static := (w.cost+3+7)>>3, (w.staticCost+3+7)>>3
	if static <= dynamic || w.options.Strategy == Fixed {
		dynamic = static
	}
	switch {
	case size+4 <= dynamic && known:
		w.storeBlock(content, end)
	case static == dynamic:
		w.put(formFixed<<1|bit(end), 3)
		w.writeSymbols(fixed.literals[:], fixed.dists[:])
	default:
		w.put(formDynamic<<1|bit(end), 3)
		w.put(mostLiteral+1-257, 5)
		w.put(mostDist+1-1, 5)
		w.put(mostLen+1-4, 4)
		for _, i := range lenOrder[:mostLen+1] {
			w.put(int(w.lens[i].len), 3)
		}
		w.writeTree(w.literals[:], mostLiteral)
		w.writeTree(w.dists[:], mostDist)
		w.writeSymbols(w.literals[:], w.dists[:])
	}
	w.begin()
	if end {
		w.align()
	}
}

func (w *Writer) writeSymbols(literalTree, distTree []node) {
	for i, dist := range w.dist[:w.next] {
		lit := w.lit[i]
		if dist == 0 {
			w.code(literalTree[lit])
			continue
		}
		code := int(fixed.lengthCode[lit])
		w.code(literalTree[code+literals+1])
		if n := extraLength[code]; n != 0 {
			w.put(int(lit)-fixed.lengthBase[code], int(n))
		}
		d := int(dist) - 1
		code = distCode(d)
		w.code(distTree[code])
		if n := extraDist[code]; n != 0 {
			w.put(d-fixed.distBase[code], int(n))
		}
	}
	w.code(literalTree[endOfBlock])
}
