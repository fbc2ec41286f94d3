// Package deflate writes DEFLATE data (RFC 1951) like Chromium's zlib, which workerd and Node.js use: byte for byte, at each
// level and strategy.
//
// In: bytes, in pieces of any size. Out: a stream, alone or in a frame of zlib (RFC 1950) or gzip (RFC 1952). Errors are those of
// the destination, which are permanent, and options out of range. The algorithm is that of zlib (Jean-loup Gailly and Mark Adler,
// https://zlib.net), with Chromium's hash of four bytes. A Writer serves one goroutine at a time. It does not decompress:
// decompression is unambiguous, and other packages are faster.
package deflate

import (
	"encoding/binary"
	"fmt"
	"hash"
	"hash/adler32"
	"hash/crc32"
	"io"
)

// Strategies.
const (
	DefaultStrategy = iota
	Filtered
	HuffmanOnly
	RLE
	Fixed
)

// DefaultLevel is the level that zlib takes for -1.
const DefaultLevel = 6

// Format is the frame of a stream.
type Format int

// The formats.
const (
	Raw Format = iota
	Zlib
	Gzip
)

// Options control the compression.
type Options struct {
	Format     Format
	Level      int // 0 to 9, or -1 for DefaultLevel
	Strategy   int
	MemLevel   int    // 1 to 9; default: 8
	WindowBits int    // 9 to 15; default: 15
	Dictionary []byte // that the reader has too; not of Gzip
}

const (
	minMatch     = 3
	maxMatch     = 258
	minLookahead = maxMatch + minMatch + 1
	tooFar       = 4096 // a match of three bytes over a longer distance costs more than literals
	maxStored    = 65535
	leastStored  = 32 << 10
	leastHash    = 15 // bits
	flushOver    = 64 << 10
)

// config is the search effort of a level.
type config struct {
	good, lazy, nice, chain int
	slow                    bool
}

var configs = [10]config{ //nolint:gochecknoglobals // a table
	{},
	{4, 4, 8, 4, false},
	{4, 5, 16, 8, false},
	{4, 6, 32, 32, false},
	{4, 4, 16, 16, true},
	{8, 16, 32, 32, true},
	{8, 16, 128, 128, true},
	{8, 32, 128, 256, true},
	{32, 128, 258, 1024, true},
	{32, 258, 258, 4096, true},
}

// flushing is the operation after a piece.
type flushing int

const (
	more   flushing = iota
	block           // another level
	synced          // the output so far can be decompressed
	last
)

// Writer compresses. Close writes the end.
type Writer struct {
	dst     io.Writer
	err     error
	options Options
	config

	begun bool // the head is written
	sum   hash.Hash32
	size  uint32 // of the input, modulo 2^32

	input    []byte // of the call
	out      []byte
	bits     uint64
	bitCount uint
	pristine bool // nothing was compressed
	flushed  bool // nothing since the last Flush
	stored   []byte

	wsize, wmask         int
	window               []byte
	prev, head           []uint16
	hashMask             uint32
	start                int // of the pending input, in window
	blockStart           int
	lookahead            int
	insert               int // bytes before start whose strings are not in the hash table yet
	written              int // of window
	matchStart, matchLen int
	prevMatch, prevLen   int
	available            bool // the match at the byte before start is pending

	symbols
}

// NewWriter returns a Writer to dst.
func NewWriter(dst io.Writer, o Options) (*Writer, error) {
	if o.Level == -1 {
		o.Level = DefaultLevel
	}
	if o.MemLevel == 0 {
		o.MemLevel = 8
	}
	if o.WindowBits == 0 {
		o.WindowBits = 15
	}
	if o.WindowBits == 8 {
		o.WindowBits = 9
	}
	if o.Level < 0 || o.Level > 9 || o.Strategy < 0 || o.Strategy > Fixed || o.MemLevel < 1 || o.MemLevel > 9 || o.WindowBits < 9 ||
		o.WindowBits > 15 {
		return nil, fmt.Errorf("level %d, strategy %d, memory level %d and window bits %d are not those of deflate",
			o.Level, o.Strategy, o.MemLevel, o.WindowBits)
	}
	w := &Writer{options: o, wsize: 1 << o.WindowBits}
	switch o.Format {
	case Zlib:
		w.sum = adler32.New()
	case Gzip:
		w.sum, w.options.Dictionary = crc32.NewIEEE(), nil
	case Raw:
	}
	w.wmask = w.wsize - 1
	w.window = make([]byte, 2*w.wsize+8)
	w.prev = make([]uint16, w.wsize)
	hash := max(o.MemLevel+7, leastHash)
	w.head = make([]uint16, 1<<hash)
	w.hashMask = 1<<hash - 1
	w.makeSymbols(1 << (o.MemLevel + 6))
	w.Reset(dst)
	return w, nil
}

// Reset restores the initial state of w, for another destination.
func (w *Writer) Reset(dst io.Writer) {
	w.dst, w.err, w.input, w.out, w.stored = dst, nil, nil, w.out[:0], w.stored[:0]
	w.bits, w.bitCount, w.pristine, w.flushed = 0, 0, true, false
	w.begun, w.size = false, 0
	if w.sum != nil {
		w.sum.Reset()
	}
	w.config = configs[w.options.Level]
	w.forget()
	w.insert, w.written, w.matchStart, w.prevMatch = 0, 0, 0, 0
	w.begin()
	w.setDictionary(w.options.Dictionary)
}

// forget empties the window.
func (w *Writer) forget() {
	clear(w.head)
	w.start, w.blockStart, w.lookahead, w.insert = 0, 0, 0, 0
	w.matchLen, w.prevLen, w.available = minMatch-1, minMatch-1, false
}

func (w *Writer) setDictionary(dictionary []byte) {
	if len(dictionary) == 0 {
		return
	}
	w.input = dictionary[max(0, len(dictionary)-w.wsize):]
	w.fill()
	for w.lookahead >= minMatch {
		for n := w.lookahead - (minMatch - 1); n > 0; n-- {
			w.insertString(w.start)
			w.start++
		}
		w.lookahead = minMatch - 1
		w.fill()
	}
	w.start += w.lookahead
	w.blockStart, w.insert, w.lookahead = w.start, w.lookahead, 0
	w.matchLen, w.prevLen, w.available, w.input = minMatch-1, minMatch-1, false, nil
}

// SetParameters sets the level and the strategy for the next bytes.
func (w *Writer) SetParameters(level, strategy int) error {
	if level == -1 {
		level = DefaultLevel
	}
	if level < 0 || level > 9 || strategy < 0 || strategy > Fixed {
		return fmt.Errorf("level %d and strategy %d are not those of deflate", level, strategy)
	}
	old := w.options
	if level == old.Level && strategy == old.Strategy {
		return nil
	}
	if (strategy != old.Strategy || (level == 0) != (old.Level == 0) || configs[level].slow != w.slow) && !w.pristine {
		w.run(block)
	}
	if (level == 0) != (old.Level == 0) {
		w.forget() // stored blocks leave the window empty
	}
	w.options.Level, w.options.Strategy, w.config = level, strategy, configs[level]
	return w.send()
}

// Write implements io.Writer.
func (w *Writer) Write(p []byte) (int, error) {
	if w.err != nil {
		return 0, w.err
	}
	if len(p) == 0 {
		return 0, nil
	}
	if w.sum != nil {
		_, _ = w.sum.Write(p) // never fails
		w.size += uint32(len(p))
	}
	w.input = p
	w.run(more)
	w.input = nil
	if err := w.send(); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Flush makes all input so far decompressible.
func (w *Writer) Flush() error {
	if w.err != nil || w.flushed {
		return w.err
	}
	w.run(synced)
	w.storeBlock(nil, false)
	w.flushed = true
	return w.send()
}

// Close writes the end.
func (w *Writer) Close() error {
	if w.err != nil {
		return w.err
	}
	w.run(last)
	switch w.options.Format {
	case Zlib:
		w.out = binary.BigEndian.AppendUint32(w.out, w.sum.Sum32())
	case Gzip:
		w.out = binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(w.out, w.sum.Sum32()), w.size)
	case Raw:
	}
	if err := w.send(); err != nil {
		return err
	}
	w.err = io.ErrClosedPipe
	return nil
}

// send writes whole bytes to the destination.
func (w *Writer) send() error {
	for ; w.bitCount >= 8; w.bitCount -= 8 {
		w.out = append(w.out, byte(w.bits))
		w.bits >>= 8
	}
	if len(w.out) > 0 && w.err == nil {
		_, w.err = w.dst.Write(w.out)
	}
	w.out = w.out[:0]
	return w.err
}

// run compresses the input.
func (w *Writer) run(how flushing) {
	w.pristine, w.flushed = false, false
	if !w.begun {
		w.begun = true
		w.writeHead()
	}
	switch {
	case w.options.Level == 0:
		w.store(how)
		return
	case w.options.Strategy == HuffmanOnly:
		w.huffman(how)
	case w.options.Strategy == RLE:
		w.runs(how)
	case w.slow:
		w.lazy(how)
	default:
		w.greedy(how)
	}
	if how == more {
		return
	}
	if how == last {
		w.flushBlock(true)
	} else if w.next > 0 {
		w.flushBlock(false)
	}
}

// writeHead writes the head of the frame.
func (w *Writer) writeHead() {
	o := w.options
	fast := o.Level < 2 || o.Strategy >= HuffmanOnly
	switch o.Format {
	case Zlib:
		const method, withDictionary, check = 8, 1 << 5, 31
		effort := 3
		switch {
		case fast:
			effort = 0
		case o.Level < DefaultLevel:
			effort = 1
		case o.Level == DefaultLevel:
			effort = 2
		}
		head := (method+(o.WindowBits-8)<<4)<<8 | effort<<6
		if len(o.Dictionary) > 0 {
			head |= withDictionary
		}
		w.out = binary.BigEndian.AppendUint16(w.out, uint16(head+check-head%check))
		if len(o.Dictionary) > 0 {
			w.out = binary.BigEndian.AppendUint32(w.out, adler32.Checksum(o.Dictionary))
		}
	case Gzip:
		const slowest, fastest, unix = 2, 4, 3
		effort := byte(0)
		switch {
		case o.Level == 9:
			effort = slowest
		case fast:
			effort = fastest
		}
		w.out = append(w.out, 0x1f, 0x8b, 8, 0, 0, 0, 0, 0, effort, unix) // no name, no time
	case Raw:
	}
}

// store writes blocks without compression.
func (w *Writer) store(how flushing) {
	w.stored = append(w.stored, w.input...)
	rest := w.stored
	for len(rest) >= leastStored || how != more && len(rest) > 0 {
		n := min(len(rest), maxStored)
		w.storeBlock(rest[:n], how == last && n == len(rest))
		if rest = rest[n:]; len(rest) == 0 && how == last {
			w.stored = w.stored[:0]
			return
		}
	}
	w.stored = append(w.stored[:0], rest...)
	if how == last {
		w.storeBlock(nil, true)
	}
}

// flushBlock writes the block of the symbols so far.
func (w *Writer) flushBlock(end bool) {
	var content []byte
	if w.blockStart >= 0 {
		content = w.window[w.blockStart:w.start]
	}
	w.writeBlock(content, w.blockStart >= 0, w.start-w.blockStart, end)
	w.blockStart = w.start
	if len(w.out) > flushOver {
		_ = w.send() // the Writer keeps the error
	}
}

// insertString puts the string at a place in window into the hash table, and returns the last one of the same hash; 0 for none.
func (w *Writer) insertString(at int) int {
	const factor = 66521
	h := (binary.LittleEndian.Uint32(w.window[at:])*factor + factor) >> 16 & w.hashMask
	before := w.head[h]
	w.prev[at&w.wmask] = before
	w.head[h] = uint16(at)
	return int(before)
}

// fill reads input into the window; without room, the upper half moves to the lower one.
func (w *Writer) fill() {
	size := 2 * w.wsize
	for {
		room := size - w.lookahead - w.start
		if w.start >= size-minLookahead {
			copy(w.window[:w.wsize-room], w.window[w.wsize:])
			w.matchStart -= w.wsize
			w.start -= w.wsize
			w.blockStart -= w.wsize
			w.insert = min(w.insert, w.start)
			slide(w.head, w.wsize)
			slide(w.prev, w.wsize)
			room += w.wsize
		}
		if len(w.input) == 0 {
			break
		}
		n := copy(w.window[w.start+w.lookahead:][:room], w.input)
		w.input = w.input[n:]
		w.lookahead += n
		if w.lookahead+w.insert > minMatch {
			for at := w.start - w.insert; w.insert > 0; at++ {
				w.insertString(at)
				if w.insert--; w.lookahead+w.insert <= minMatch {
					break
				}
			}
		}
		if w.lookahead >= minLookahead || len(w.input) == 0 {
			break
		}
	}
	// The hash of the last bytes is of those after them too: zeros, unless there were others.
	if w.written >= size {
		return
	}
	end := w.start + w.lookahead
	if w.written < end {
		to := min(size, end+maxMatch)
		clear(w.window[end:to])
		w.written = to
	} else if to := min(size, end+maxMatch); w.written < to {
		clear(w.window[w.written:to])
		w.written = to
	}
}

func slide(table []uint16, n int) {
	for i, at := range table {
		if int(at) >= n {
			table[i] = at - uint16(n)
		} else {
			table[i] = 0
		}
	}
}
