package editor

import (
	"bytes"
	"slices"
	"strings"
)

// splice replaces the bytes from at up to end.
type splice struct {
	at, end int
	text    string
}

// apply returns src with the splices made. They must not overlap, and must be in order.
func apply(src []byte, splices []splice) []byte {
	var out []byte
	done := 0
	for _, s := range splices {
		out = append(append(out, src[done:s.at]...), s.text...)
		done = s.end
	}
	return append(out, src[done:]...)
}

const blank = " \t\r\n"

// appendChild inserts text at the end between two brackets, on lines of its own: closing is the offset of the closing one,
// outer the indentation of the line with the opening one. The first line of text is indented already.
func appendChild(src []byte, closing int, outer, text string) splice {
	content := len(bytes.TrimRight(src[:closing], blank))
	eol := lineEnd(src)
	text = eol + withLineEnd(text, eol)
	if bytes.ContainsRune(src[content:closing], '\n') {
		return splice{content, content, text}
	}
	return splice{content, closing, text + eol + outer}
}

// lineEnd returns the line end of src.
func lineEnd(src []byte) string {
	if i := bytes.IndexByte(src, '\n'); i > 0 && src[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// withLineEnd replaces the line ends of a text.
func withLineEnd(text, eol string) string { return strings.ReplaceAll(text, "\n", eol) }

// indentation returns the blanks at the start of an offset's line.
func indentation(src []byte, offset int) string {
	line := src[bytes.LastIndexByte(src[:offset], '\n')+1:]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// beginsLine reports whether only blanks are before an offset on its line.
func beginsLine(src []byte, offset int) bool {
	start := bytes.LastIndexByte(src[:offset], '\n') + 1
	return start > 0 && len(bytes.Trim(src[start:offset], " \t")) == 0
}

// indent puts blanks before every line of text.
func indent(text, blanks string) string {
	lines := slices.Collect(strings.SplitSeq(text, "\n"))
	return blanks + strings.Join(lines, "\n"+blanks)
}
