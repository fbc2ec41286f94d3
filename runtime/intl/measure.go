package intl

import (
	"strconv"
	"strings"
)

// compact divides by a thousand, a million …, by the locale's patterns, and rounds.
func (f *numberFormat) compact(d decimal) formatted {
	magnitude := d.magnitude()
	shift := f.compactShift(magnitude)
	n := f.round(d, shift)
	if again := n.value.magnitude() + shift; again > magnitude && !n.value.zero() {
		magnitude = again
		if next := f.compactShift(again); next != shift {
			n = f.round(d, next)
		}
	}
	mantissa := n
	mantissa.shift = 0
	plural := f.plural(mantissa)
	if n.whole == "1" && n.fraction == "" {
		plural = "1"
	}
	n.compact = f.compactPattern(magnitude, plural)
	return n
}

// compactTable is the prefix of the compact patterns' keys.
func (f *numberFormat) compactTable() string {
	switch {
	case f.currency != "":
		if _, ok := f.data.Find(f.symbols + "money/short/3/other"); !ok {
			return "number/latn/money/short/"
		}
		return f.symbols + "money/short/"
	case f.s.CompactDisplay == "long":
		return f.symbols + "long/"
	}
	return f.symbols + "short/"
}

// compactPattern is the pattern of a magnitude; "" when numbers of that size are written out.
func (f *numberFormat) compactPattern(magnitude int, plural string) string {
	capped := f.compactSize(magnitude)
	if capped == 0 {
		return ""
	}
	key := f.compactTable() + strconv.Itoa(capped) + "/"
	text, ok := f.data.Find(key + plural)
	if !ok && plural == "1" {
		plural = f.rules.find(operands{whole: "1"})
		text, ok = f.data.Find(key + plural)
	}
	if !ok {
		text = f.data.Text(key + "other")
	}
	if text == "0" || strings.Trim(text, "0 ¤\u00a0") == "" {
		return ""
	}
	for strings.Contains(text, "00") { // "000 Mio'.'" is "0 Mio'.'"
		text = strings.ReplaceAll(text, "00", "0")
	}
	return text
}

// compactSize is the greatest power of ten, up to magnitude, that has a pattern; 0 for none.
func (f *numberFormat) compactSize(magnitude int) int {
	const most = 24 // no locale has patterns beyond
	for size := min(magnitude, most); size >= 3; size-- {
		if _, ok := f.data.Find(f.compactTable() + strconv.Itoa(size) + "/other"); ok {
			return size
		}
	}
	return 0
}

func (f *numberFormat) compactShift(magnitude int) int {
	capped := f.compactSize(magnitude)
	if capped == 0 {
		return 0
	}
	text := f.data.Text(f.compactTable() + strconv.Itoa(capped) + "/other")
	positive, _, _ := strings.Cut(text, ";")
	zeros := strings.Count(positive, "0")
	if zeros == 0 || strings.Trim(text, "0 ¤\u00a0") == "" {
		return 0
	}
	return capped - zeros + 1
}

// writeCurrencyName writes "1.00 US dollars".
func (f *numberFormat) writeCurrencyName(plural string, number []part) []part {
	name := f.s.Currency
	for _, key := range []string{"/" + plural, "/other", ""} {
		if found, ok := f.data.Find("currency/" + f.s.Currency + key); ok {
			name = found
			break
		}
	}
	var parts []part
	for _, piece := range placeholders(f.inPlural(f.symbols+"money/unitPattern-count-", plural)) {
		switch piece {
		case "{0}":
			parts = append(parts, number...)
		case "{1}":
			parts = append(parts, part{"currency", name})
		default:
			parts = appendPart(parts, "literal", piece)
		}
	}
	return parts
}

// placeholders cuts a pattern into {0}, {1} and the texts between them.
func placeholders(text string) []string {
	var out []string
	for text != "" {
		at := strings.IndexByte(text, '{')
		if at < 0 || len(text) < at+3 {
			return append(out, text)
		}
		if at > 0 {
			out = append(out, text[:at])
		}
		out = append(out, text[at:at+3])
		text = text[at+3:]
	}
	return out
}

// writeUnit writes "16 liters".
func (f *numberFormat) writeUnit(plural string, number []part) []part {
	width := "unit/" + f.s.UnitDisplay + "/"
	text := f.inPlural(width+f.s.Unit+"/", plural)
	if above, below, ok := strings.Cut(f.s.Unit, "-per-"); text == "" && ok {
		text = f.perPattern(width, above, below, plural)
	}
	before, after, ok := strings.Cut(text, "{0}")
	if !ok { // the word has the number in it
		return appendText(nil, "unit", text)
	}
	parts := appendText(nil, "unit", before)
	return appendText(append(parts, number...), "unit", after)
}

// inPlural is the text of a plural category, otherwise that of "other".
func (f *numberFormat) inPlural(prefix, plural string) string {
	text, ok := f.data.Find(prefix + plural)
	if !ok {
		text = f.data.Text(prefix + "other")
	}
	return text
}

// perPattern makes a pattern of two units (UTS 35, part 6, section 5.4).
func (f *numberFormat) perPattern(width, above, below, plural string) string {
	first := f.inPlural(width+above+"/", plural)
	if per, ok := f.data.Find(width + below + "/per"); ok {
		return strings.Replace(per, "{0}", first, 1)
	}
	one := strings.TrimSpace(strings.Replace(f.inPlural(width+below+"/", "one"), "{0}", "", 1))
	per := strings.Replace(f.data.Text(width+"per"), "{0}", first, 1)
	return strings.Replace(per, "{1}", one, 1)
}
