package intl

import (
	"slices"
	"strings"
)

// rangePart is a piece of a formatted range, and which end it comes from.
type rangePart struct {
	part
	source string // startRange, endRange or shared
}

func flatRange(parts []rangePart) []string {
	out := make([]string, 0, 3*len(parts))
	for _, p := range parts {
		out = append(out, p.kind, p.text, p.source)
	}
	return out
}

func withSource(parts []part, source string) []rangePart {
	out := make([]rangePart, 0, len(parts))
	for _, p := range parts {
		out = append(out, rangePart{p, source})
	}
	return out
}

// formatRange formats a range (ECMA-402, 16.5.19). Equal text around the digits of both ends is written once if it is more than
// one character (ICU's "auto").
func (f *numberFormat) formatRange(from, to decimal) []rangePart {
	first, last := f.scale(f.percent(from)), f.scale(f.percent(to))
	start, end := f.decorate(first), f.decorate(last)
	same := slices.Equal(start, end)
	var parts []rangePart
	if same {
		sign := part{"approximatelySign", f.symbol("approximatelySign")}
		parts = append([]rangePart{{sign, "shared"}}, withSource(start, "shared")...)
	} else {
		parts = f.joinRange(start, end)
	}
	if !f.hasWords() {
		return parts
	}
	plural := f.plural(first)
	if !same {
		plural = pluralRange(f.data.Language(), plural, f.plural(last))
	}
	var out []rangePart
	for _, p := range f.spell(plural, []part{{kind: "range"}}) {
		if p.kind == "range" {
			out = append(out, parts...)
			continue
		}
		out = append(out, rangePart{p, "shared"})
	}
	return out
}

// joinRange joins two ends that differ.
func (f *numberFormat) joinRange(start, end []part) []rangePart {
	before, after := digitsAt(start)
	otherBefore, otherAfter := digitsAt(end)
	collapsed := slices.Equal(start[:before], end[:otherBefore]) && slices.Equal(start[after:], end[otherAfter:]) &&
		length(start[:before])+length(start[after:]) > 1
	bare := before == 0 && otherBefore == 0 && after == len(start) && otherAfter == len(end)
	if !collapsed {
		before, otherBefore, after, otherAfter = 0, 0, len(start), len(end)
	}
	out := append(withSource(start[:before], "shared"), withSource(start[before:after], "startRange")...)
	for _, piece := range placeholders(f.data.Text(f.symbols + "misc/range")) {
		if piece == "{0}" || piece == "{1}" {
			continue
		}
		if !collapsed && !bare && piece == strings.TrimFunc(piece, isSpace) {
			piece = " " + piece + " "
		}
		out = append(out, rangePart{part{"literal", piece}, "shared"})
	}
	out = append(out, withSource(end[otherBefore:otherAfter], "endRange")...)
	return append(out, withSource(end[otherAfter:], "shared")...)
}

// digitsAt returns the start and the end of the number itself.
func digitsAt(parts []part) (from, to int) {
	from, to = slices.IndexFunc(parts, ofDigits), len(parts)
	for to > 0 && !ofDigits(parts[to-1]) {
		to--
	}
	return max(from, 0), to
}

func length(parts []part) int { return len([]rune(join(parts))) }

// ofDigits reports whether a part belongs to the number itself.
func ofDigits(p part) bool {
	switch p.kind {
	case "integer", "group", "decimal", "fraction", "nan", "infinity", "exponentSeparator", "exponentMinusSign", "exponentInteger":
		return true
	}
	return false
}
