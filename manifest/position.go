package manifest

import (
	"sort"
	"strings"
)

// lines converts byte offsets of a source into 1-based lines and columns, columns counted in characters.
// Only "\n" ends a line; a byte order mark is no character of the first line.
type lines struct {
	src    string
	starts []int // offset of the first byte of each line
	before []int // characters before each block of the source, so that a long line costs no more than a short one
}

// block is the number of bytes between two counts of characters.
const block = 1024

func newLines(src string) *lines {
	l := &lines{src: src, starts: make([]int, 1, 1+strings.Count(src, "\n"))}
	if strings.HasPrefix(src, byteOrderMark) {
		l.starts[0] = len(byteOrderMark)
	}
	for i := 0; ; {
		n := strings.IndexByte(src[i:], '\n')
		if n < 0 {
			return l
		}
		i += n + 1
		l.starts = append(l.starts, i)
	}
}

// at returns the line and column of an offset.
func (l *lines) at(offset int) (line, column int) {
	offset = max(offset, l.starts[0])
	i := sort.SearchInts(l.starts, offset+1) - 1
	return i + 1, l.characters(offset) - l.characters(l.starts[i]) + 1
}

// characters counts the characters before an offset.
func (l *lines) characters(offset int) int {
	if l.before == nil {
		l.before = make([]int, 1, len(l.src)/block+1)
		for at := block; at <= len(l.src); at += block {
			l.before = append(l.before, l.before[len(l.before)-1]+countCharacters(l.src[at-block:at]))
		}
	}
	n := offset / block
	return l.before[n] + countCharacters(l.src[n*block:offset])
}

// countCharacters counts the bytes that start a character, which may be cut anywhere.
func countCharacters[T string | []byte](s T) int {
	n := 0
	for i := range len(s) {
		if s[i]&0xc0 != 0x80 {
			n++
		}
	}
	return n
}

// text returns a line without its end, given its number.
func (l *lines) text(line int) string {
	if line < 1 || line > len(l.starts) {
		return ""
	}
	rest := l.src[l.starts[line-1]:]
	if i := strings.IndexByte(rest, '\n'); i >= 0 {
		rest = rest[:i]
	}
	return strings.TrimSuffix(rest, "\r")
}

// span is a half-open range of byte offsets.
type span struct{ start, end int }

// byteOrderMark may stand at the start of a text and is no part of it.
const byteOrderMark = "\uFEFF"
