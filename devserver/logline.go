package devserver

import (
	"regexp"
	"strings"

	"github.com/pages-toolchain/pages/devserver/site"
)

// shownFrames is how many lines of a trace are printed below what went wrong.
const shownFrames = 8

// FormatLine writes what a Worker logged for the terminal, without an end of
// line. Where it was logged stands behind the first of its lines:
//
//	warn: no such boat (src/boats.ts:12:5)
//
// Below an exception stand the frames of its trace. Colour is for terminals;
// the Worker's own colours are left out without it, and all other control
// characters in any case.
func FormatLine(l site.LogLine, colour bool) string {
	first, rest, several := strings.Cut(shownText(l.Text, colour), "\n")
	code := map[string]string{"error": red, "warn": yellow, "debug": dim}[l.Level]
	var b strings.Builder
	b.WriteString(styled(code, l.Level+": "+first, colour))
	if l.At != "" {
		b.WriteString(" " + styled(dim, "("+stripControls(l.At)+")", colour))
	}
	if several {
		for line := range strings.SplitSeq(rest, "\n") {
			b.WriteString("\n" + styled(code, line, colour))
		}
	}
	for _, frame := range l.Stack[:min(len(l.Stack), shownFrames)] {
		b.WriteString("\n" + styled(dim, "    "+stripControls(frame), colour))
	}
	return b.String()
}

func styled(code, text string, colour bool) string {
	if !colour || code == plain || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// style is an ANSI sequence that changes colours and nothing else.
var style = regexp.MustCompile("\x1b\\[[0-9;]*m") //nolint:gochecknoglobals // a constant

// shownText leaves control characters out, except ends of lines, tabs and, if
// there is colour, the text's own colours.
func shownText(text string, colour bool) string {
	var b strings.Builder
	last := 0
	for _, at := range style.FindAllStringIndex(text, -1) {
		b.WriteString(strings.Map(printableRune, text[last:at[0]]))
		if colour {
			b.WriteString(text[at[0]:at[1]])
		}
		last = at[1]
	}
	b.WriteString(strings.Map(printableRune, text[last:]))
	return b.String()
}
