package sqlshell

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"

	"github.com/pages-toolchain/pages/cmd/internal/wording"
)

// tableRows is a table for people. It implements rowFormat.
type tableRows struct {
	columns []string
	held    [][]string // rows that determine the widths, kept until they are shown
	shown   bool
	widths  []int
	numbers []bool // columns of numbers, aligned to the right
}

// tableSample is the number of rows that determine the widths of a table.
const tableSample = 500

func (t *tableRows) head(b []byte, columns []string) []byte {
	t.columns = columns
	t.numbers, t.widths = make([]bool, len(columns)), make([]int, len(columns))
	for i := range t.numbers {
		t.numbers[i] = true
	}
	return b
}

func (t *tableRows) row(b []byte, values []any) []byte {
	cells := make([]string, len(values))
	for i, v := range values {
		var text string
		switch v := v.(type) {
		case nil:
			text = "NULL"
		case string:
			text, t.numbers[i] = wording.Printable(v), false
		case []byte:
			text, t.numbers[i] = string(appendLiteral(nil, v)), false
		default:
			text = string(appendLiteral(nil, v))
		}
		cells[i] = shorten(text)
		t.widths[i] = max(t.widths[i], cellWidth(cells[i]))
	}
	if t.shown {
		return t.line(b, cells)
	}
	if t.held = append(t.held, cells); len(t.held) >= tableSample {
		return t.show(b)
	}
	return b
}

func (t *tableRows) foot(b []byte) []byte {
	if t.shown {
		return b
	}
	return t.show(b)
}

// show writes the header of the table and the kept rows.
func (t *tableRows) show(b []byte) []byte {
	names, rule := make([]string, len(t.columns)), make([]string, len(t.columns))
	for i, name := range t.columns {
		names[i] = shorten(wording.Printable(name))
		t.widths[i] = max(t.widths[i], cellWidth(names[i]))
		rule[i] = strings.Repeat("─", t.widths[i])
	}
	b = t.line(t.line(b, names), rule)
	for _, cells := range t.held {
		b = t.line(b, cells)
	}
	t.held, t.shown = nil, true
	return b
}

// line writes the cells of one line, without trailing blanks.
func (t *tableRows) line(b []byte, cells []string) []byte {
	begin := len(b)
	for i, cell := range cells {
		if i > 0 {
			b = append(b, "  "...)
		}
		pad := strings.Repeat(" ", max(t.widths[i]-cellWidth(cell), 0))
		if t.numbers[i] {
			b = append(append(b, pad...), cell...)
		} else {
			b = append(append(b, cell...), pad...)
		}
	}
	return append(b[:begin+len(bytes.TrimRight(b[begin:], " "))], '\n')
}

// maxCell is the number of characters of a value that a table shows.
const maxCell = 80

func shorten(text string) string {
	if utf8.RuneCountInString(text) <= maxCell {
		return text
	}
	return string([]rune(text)[:maxCell-1]) + "…"
}

// cellWidth is the number of terminal columns that a text takes.
func cellWidth(text string) int {
	n := 0
	for _, r := range text {
		switch kind := width.LookupRune(r).Kind(); {
		case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		case kind == width.EastAsianWide || kind == width.EastAsianFullwidth:
			n += 2
		default:
			n++
		}
	}
	return n
}
