package intl

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

type affixes struct{ prefix, suffix string }

// pattern is a parsed number pattern: "#,##0.00 ¤;(#,##0.00 ¤)".
type pattern struct {
	positive, negative affixes
	hasNegative        bool
	primary, secondary int // sizes of groups; 0 for none
}

func parsePattern(text string) pattern {
	first, second, two := cutUnquoted(text, ';')
	var p pattern
	var core string
	p.positive, core = splitPattern(first)
	if two {
		p.negative, _ = splitPattern(second)
		p.hasNegative = true
	}
	whole, _, _ := strings.Cut(core, ".")
	if groups := strings.Split(whole, ","); len(groups) > 1 {
		p.primary = len(groups[len(groups)-1])
		p.secondary = p.primary
		if len(groups) > 2 {
			p.secondary = len(groups[len(groups)-2])
		}
	}
	return p
}

// cutUnquoted cuts at the first sep that is not between apostrophes.
func cutUnquoted(text string, sep byte) (before, after string, found bool) {
	quoted := false
	for i := range len(text) {
		switch {
		case text[i] == '\'':
			quoted = !quoted
		case text[i] == sep && !quoted:
			return text[:i], text[i+1:], true
		}
	}
	return text, "", false
}

// splitPattern takes the affixes off the digits.
func splitPattern(text string) (a affixes, core string) {
	start, end, quoted := -1, len(text), false
	for i := range len(text) {
		if text[i] == '\'' {
			quoted = !quoted
		}
		digit := !quoted && strings.IndexByte("#0,.", text[i]) >= 0
		if digit && start < 0 {
			start = i
		}
		if start >= 0 && !digit && text[i] != 'E' {
			end = i
			break
		}
	}
	if start < 0 {
		return affixes{prefix: text}, ""
	}
	return affixes{text[:start], text[end:]}, text[start:end]
}

// affixesFor returns the affixes for a sign: '-', '+' or 0 for none.
func (p pattern) affixesFor(sign byte) affixes {
	negativeHasMinus := strings.ContainsRune(p.negative.prefix+p.negative.suffix, '-')
	if p.hasNegative && (sign == '-' || sign == '+' && negativeHasMinus) {
		a := p.negative
		if sign == '+' {
			a.prefix, a.suffix = strings.ReplaceAll(a.prefix, "-", "+"), strings.ReplaceAll(a.suffix, "-", "+")
		}
		return a
	}
	a := p.positive
	if sign != 0 {
		a.prefix = string(sign) + a.prefix
	}
	return a
}

// affixParts writes an affix: literal is the kind of mere text.
func (f *numberFormat) affixParts(affix, literal string) (parts []part) {
	quoted := false
	text := strings.Builder{}
	flush := func() {
		parts = appendText(parts, literal, text.String())
		text.Reset()
	}
	symbol := func(kind, s string) {
		flush()
		parts = appendSymbol(parts, kind, s)
	}
	for i, r := range affix {
		switch {
		case r == '\'' && strings.HasPrefix(affix[i+1:], "'"):
			text.WriteRune(r)
		case r == '\'':
			quoted = !quoted
		case quoted:
			text.WriteRune(r)
		case r == '-':
			symbol("minusSign", f.symbol("minusSign"))
		case r == '+':
			symbol("plusSign", f.symbol("plusSign"))
		case r == '%':
			kind := "percentSign"
			if f.s.Style == "unit" {
				kind = "unit"
			}
			symbol(kind, f.symbol("percentSign"))
		case r == '¤':
			symbol("currency", f.currency)
		default:
			text.WriteRune(r)
		}
	}
	flush()
	return parts
}

// appendSymbol appends a symbol; the marks of direction around it are literal.
func appendSymbol(parts []part, kind, symbol string) []part {
	inner := strings.TrimFunc(symbol, isDirection)
	before, after, _ := strings.Cut(symbol, inner)
	return appendPart(append(appendPart(parts, "literal", before), part{kind, inner}), "literal", after)
}

func isDirection(r rune) bool { return r == '\u061c' || r == '\u200e' || r == '\u200f' }

// appendText appends text of a kind; the white space around it is literal.
func appendText(parts []part, kind, text string) []part {
	inner := strings.TrimFunc(text, func(r rune) bool { return unicode.IsSpace(r) || isDirection(r) })
	if inner == "" {
		return appendPart(parts, "literal", text)
	}
	at := strings.Index(text, inner)
	parts = appendPart(parts, "literal", text[:at])
	parts = appendPart(parts, kind, inner)
	return appendPart(parts, "literal", text[at+len(inner):])
}

// spaceCurrency separates a currency from the digit that it touches, unless it ends in a symbol or space: "USD 5", but "$5"
// (UTS 35, part 3, section 4.2.1).
func spaceCurrency(prefix, number, suffix []part) (before, after []part) {
	if n := len(prefix); n > 0 && prefix[n-1].kind == "currency" && touches(number, true) {
		if r, _ := utf8.DecodeLastRuneInString(prefix[n-1].text); !unicode.IsSymbol(r) && !unicode.Is(unicode.Z, r) {
			prefix = append(prefix, part{"literal", "\u00a0"})
		}
	}
	if len(suffix) > 0 && suffix[0].kind == "currency" && touches(number, false) {
		if r, _ := utf8.DecodeRuneInString(suffix[0].text); !unicode.IsSymbol(r) && !unicode.Is(unicode.Z, r) {
			suffix = append([]part{{"literal", "\u00a0"}}, suffix...)
		}
	}
	return prefix, suffix
}

func touches(number []part, first bool) bool {
	if len(number) == 0 {
		return false
	}
	text := number[0].text
	r, _ := utf8.DecodeRuneInString(text)
	if !first {
		r, _ = utf8.DecodeLastRuneInString(number[len(number)-1].text)
	}
	return unicode.IsDigit(r)
}
