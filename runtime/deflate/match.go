package deflate

import (
	"encoding/binary"
	"math/bits"
)

// This file finds repetitions: the searches of the levels and strategies.

// longest finds the longest match of the string at start, longer than prevLen, from the string at first on. It returns the length
// and sets matchStart.
func (w *Writer) longest(first int) int {
	chain, best, nice := w.chain, w.prevLen, min(w.nice, w.lookahead)
	if w.prevLen >= w.good {
		chain >>= 2
	}
	limit := max(0, w.start-(w.wsize-minLookahead))
	window, prev, wmask := w.window, w.prev, w.wmask
	scan := window[w.start : w.start+maxMatch : w.start+maxMatch]
	head := binary.LittleEndian.Uint16(scan)
	end := binary.LittleEndian.Uint16(scan[best-1:])
	for at := first; ; {
		match := window[at : at+maxMatch : at+maxMatch]
		if binary.LittleEndian.Uint16(match[best-1:]) == end && binary.LittleEndian.Uint16(match) == head {
			if n := same(scan, match); n > best {
				w.matchStart, best = at, n
				if n >= nice {
					break
				}
				end = binary.LittleEndian.Uint16(scan[best-1:])
			}
		}
		if at = int(prev[at&wmask]); at <= limit {
			break
		}
		if chain--; chain == 0 {
			break
		}
	}
	return min(best, w.lookahead)
}

// same counts the equal leading bytes of two strings of maxMatch bytes. Like zlib, it assumes that the third is equal, since
// the hash includes it.
func same(a, b []byte) int {
	a, b = a[:maxMatch], b[:maxMatch]
	n := 3
	for ; n <= maxMatch-8; n += 8 {
		if d := binary.LittleEndian.Uint64(a[n:]) ^ binary.LittleEndian.Uint64(b[n:]); d != 0 {
			return n + bits.TrailingZeros64(d)>>3
		}
	}
	for ; n < maxMatch; n++ {
		if a[n] != b[n] {
			break
		}
	}
	return n
}

// ready fills the window, and reports whether there is input to compress.
func (w *Writer) ready(need int, how flushing) bool {
	if w.lookahead >= need {
		return true
	}
	w.fill()
	return w.lookahead > 0 && (w.lookahead >= need || how != more)
}

// greedy takes each match at once.
func (w *Writer) greedy(how flushing) {
	for w.ready(minLookahead, how) {
		first := 0
		if w.lookahead >= minMatch {
			first = w.insertString(w.start)
		}
		if first != 0 && w.start-first <= w.wsize-minLookahead {
			w.matchLen = w.longest(first)
		}
		var full bool
		if w.matchLen >= minMatch {
			full = w.match(w.start-w.matchStart, w.matchLen)
			w.lookahead -= w.matchLen
			if w.matchLen <= w.config.lazy && w.lookahead >= minMatch {
				for n := w.matchLen - 1; n > 0; n-- {
					w.start++
					w.insertString(w.start)
				}
				w.start++
			} else {
				w.start += w.matchLen
			}
			w.matchLen = 0
		} else {
			full = w.literal(w.window[w.start])
			w.lookahead--
			w.start++
		}
		if full {
			w.flushBlock(false)
		}
	}
	if how != more {
		w.insert = min(w.start, minMatch-1)
	}
}

// lazy takes a match unless the next byte has a better one.
func (w *Writer) lazy(how flushing) {
	for w.ready(minLookahead, how) {
		first := 0
		if w.lookahead >= minMatch {
			first = w.insertString(w.start)
		}
		w.prevLen, w.prevMatch, w.matchLen = w.matchLen, w.matchStart, minMatch-1
		if first != 0 && w.prevLen < w.config.lazy && w.start-first <= w.wsize-minLookahead {
			w.matchLen = w.longest(first)
			if w.matchLen <= 5 &&
				(w.options.Strategy == Filtered || w.matchLen == minMatch && w.start-w.matchStart > tooFar) {
				w.matchLen = minMatch - 1
			}
		}
		switch {
		case w.prevLen >= minMatch && w.matchLen <= w.prevLen:
			w.takePrevious()
		case w.available:
			if w.literal(w.window[w.start-1]) {
				w.flushBlock(false)
			}
			w.start++
			w.lookahead--
		default:
			w.available = true
			w.start++
			w.lookahead--
		}
	}
	if how == more {
		return
	}
	if w.available {
		w.literal(w.window[w.start-1])
		w.available = false
	}
	w.insert = min(w.start, minMatch-1)
}

// takePrevious takes the match of the byte before start.
func (w *Writer) takePrevious() {
	end := w.start + w.lookahead - minMatch
	full := w.match(w.start-1-w.prevMatch, w.prevLen)
	w.lookahead -= w.prevLen - 1
	for n := w.prevLen - 2; n > 0; n-- {
		if w.start++; w.start <= end {
			w.insertString(w.start)
		}
	}
	w.prevLen, w.available, w.matchLen = 0, false, minMatch-1
	w.start++
	if full {
		w.flushBlock(false)
	}
}

// runs takes only repetitions of the previous byte.
func (w *Writer) runs(how flushing) {
	for w.ready(maxMatch+1, how) {
		n := 0
		if w.lookahead >= minMatch && w.start > 0 {
			before := w.window[w.start-1]
			for n < min(maxMatch, w.lookahead) && w.window[w.start+n] == before {
				n++
			}
		}
		var full bool
		if n >= minMatch {
			full = w.match(1, n)
		} else {
			n, full = 1, w.literal(w.window[w.start])
		}
		w.lookahead -= n
		w.start += n
		if full {
			w.flushBlock(false)
		}
	}
	w.settle(how)
}

// huffman takes no repetitions.
func (w *Writer) huffman(how flushing) {
	for w.ready(1, how) {
		full := w.literal(w.window[w.start])
		w.lookahead--
		w.start++
		if full {
			w.flushBlock(false)
		}
	}
	w.settle(how)
}

func (w *Writer) settle(how flushing) {
	w.matchLen = 0
	if how != more {
		w.insert = 0
	}
}
