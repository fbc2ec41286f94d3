// Package sourcetext handles the text of the author's files: lines and columns of its bytes ([Lines], and [Cursor] for files
// that are read once), and quotations of its words in messages ([Quote]), without the keys of services and without characters
// that could drive a terminal.
//
// Input: texts. Output: positions, spans and quoted words. Lines and columns are 1-based, and columns count characters.
// No function fails. Functions are safe for concurrent use; Lines and a Cursor belong to one goroutine. The package reads no
// file and decides nothing about a manifest.
package sourcetext

import (
	"sort"
	"strings"
)

// Lines converts byte offsets of a source into 1-based lines and columns, columns counted in characters.
// Only "\n" ends a line; a byte order mark does not count as a character.
type Lines struct {
	Src    string
	Starts []int // offset of the first byte of each line
	before []int // characters before each block of the source, so that long lines are fast too
}

const block = 1024 // the number of bytes between two counts of characters

// NewLines finds the lines of a text.
func NewLines(src string) *Lines {
	l := &Lines{Src: src, Starts: make([]int, 1, 1+strings.Count(src, "\n"))}
	if strings.HasPrefix(src, ByteOrderMark) {
		l.Starts[0] = len(ByteOrderMark)
	}
	for i := 0; ; {
		n := strings.IndexByte(src[i:], '\n')
		if n < 0 {
			return l
		}
		i += n + 1
		l.Starts = append(l.Starts, i)
	}
}

// At returns the line and column of an offset.
func (l *Lines) At(offset int) (line, column int) {
	offset = max(offset, l.Starts[0])
	i := sort.SearchInts(l.Starts, offset+1) - 1
	return i + 1, l.characters(offset) - l.characters(l.Starts[i]) + 1
}

// characters counts the characters before an offset.
func (l *Lines) characters(offset int) int {
	if l.before == nil {
		l.before = make([]int, 1, len(l.Src)/block+1)
		for at := block; at <= len(l.Src); at += block {
			l.before = append(l.before, l.before[len(l.before)-1]+CountCharacters(l.Src[at-block:at]))
		}
	}
	n := offset / block
	return l.before[n] + CountCharacters(l.Src[n*block:offset])
}

// CountCharacters counts the bytes that start a character; the text may be cut inside of one.
func CountCharacters[T string | []byte](s T) int {
	n := 0
	for i := range len(s) {
		if s[i]&0xc0 != 0x80 {
			n++
		}
	}
	return n
}

// Text returns a line without its end, given its number.
func (l *Lines) Text(line int) string {
	if line < 1 || line > len(l.Starts) {
		return ""
	}
	rest := l.Src[l.Starts[line-1]:]
	if i := strings.IndexByte(rest, '\n'); i >= 0 {
		rest = rest[:i]
	}
	return strings.TrimSuffix(rest, "\r")
}

// Span is a half-open range of byte offsets.
type Span struct{ Start, End int }

// ByteOrderMark may precede a text, and is not part of it.
const ByteOrderMark = "\uFEFF"
