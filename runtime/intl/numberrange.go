package intl

import "slices"

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

func sourced(parts []part, source string) []rangePart {
	out := make([]rangePart, 0, len(parts))
	for _, p := range parts {
		out = append(out, rangePart{p, source})
	}
	return out
}

// formatRange formats a range (ECMA-402, 16.5.19). What both ends have around
// their digits is written once if it is more than one character.
func (f *numberFormat) formatRange(from, to decimal) []rangePart {
	start, end := f.format(from), f.format(to)
	if slices.Equal(start, end) {
		return f.approximately(start)
	}
	before, after := 0, 0
	for before < min(len(start), len(end)) && !ofDigits(start[before]) && start[before] == end[before] {
		before++
	}
	for after < min(len(start), len(end))-before && start[len(start)-1-after] == end[len(end)-1-after] && !ofDigits(start[len(start)-1-after]) {
		after++
	}
	if short(start[:before]) {
		before = 0
	}
	if short(start[len(start)-after:]) {
		after = 0
	}
	collapsed := !ofAffix(start[before]) && !ofAffix(end[before]) && !ofAffix(start[len(start)-1-after])
	out := sourced(start[:before], "shared")
	out = append(out, sourced(start[before:len(start)-after], "startRange")...)
	for _, piece := range placeholders(f.data.Text(f.symbols + "misc/range")) {
		if piece == "{0}" || piece == "{1}" {
			continue
		}
		if !collapsed && piece == trimSpace(piece) {
			piece = " " + piece + " "
		}
		out = append(out, rangePart{part{"literal", piece}, "shared"})
	}
	out = append(out, sourced(end[before:len(end)-after], "endRange")...)
	return append(out, sourced(end[len(end)-after:], "shared")...)
}

// ofDigits reports whether a part belongs to the number itself.
func ofDigits(p part) bool {
	switch p.kind {
	case "integer", "group", "decimal", "fraction", "nan", "infinity", "exponentSeparator", "exponentMinusSign", "exponentInteger",
		"minusSign", "plusSign":
		return true
	}
	return false
}

// ofAffix reports whether a part is one of those around the number.
func ofAffix(p part) bool { return !ofDigits(p) || p.kind == "minusSign" || p.kind == "plusSign" }

func short(parts []part) bool { return len([]rune(join(parts))) <= 1 }

func (f *numberFormat) approximately(number []part) []rangePart {
	sign := part{"approximatelySign", f.symbol("approximatelySign")}
	out := []rangePart{{sign, "shared"}}
	return append(out, sourced(number, "shared")...)
}
