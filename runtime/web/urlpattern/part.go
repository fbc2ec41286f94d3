package urlpattern

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/pages-toolchain/pages/runtime/engine"
)

// pieceKind is a type of piece: the standard's "part" (URL Pattern standard, 2.1).
type pieceKind uint8

const (
	pieceFixed pieceKind = iota
	pieceExpression
	pieceSegment  // up to the next delimiter
	pieceWildcard // everything up to the end
)

const wildcardExpression = ".*"

// piece is one piece of a pattern. value is the text of a fixed piece, or the source of an
// expression.
type piece struct {
	kind           pieceKind
	value          string
	modifier       string // "", "?", "*" or "+"
	name           string
	prefix, suffix string
}

func (p *piece) isNamed() bool { return p.name[0] < '0' || p.name[0] > '9' }

// partOptions are the options for the pattern of a part.
type partOptions struct {
	delimiter string // the end of a segment; "" for none
	prefix    string // text that belongs to the group after it; "" for none
}

func (o partOptions) segment() string { return "[^" + escapeExpression(o.delimiter) + "]+?" }

type compiledPart struct {
	pattern    string   // as shown
	expression string   // source of a regular expression, flag v
	names      []string // of its groups, in turn
	// hasExpressions is true if the pattern has a regular expression.
	hasExpressions bool
}

func compilePart(source string, options partOptions, canonical canonicaliser) (*compiledPart, error) {
	tokens, err := tokenise(source, false)
	if err != nil {
		return nil, err
	}
	p := pieceParser{source: source, tokens: tokens, options: options, canonical: canonical}
	if err := p.parse(); err != nil {
		return nil, err
	}
	part := &compiledPart{pattern: patternText(p.pieces, options), names: []string{}}
	part.expression = escapeReserved(expressionOf(p.pieces, options))
	for i := range p.pieces {
		if p.pieces[i].kind != pieceFixed {
			part.names = append(part.names, p.pieces[i].name)
		}
		part.hasExpressions = part.hasExpressions || p.pieces[i].kind == pieceExpression
	}
	return part, nil
}

type pieceParser struct {
	source    string
	tokens    []patternToken
	at        int
	options   partOptions
	canonical canonicaliser
	pending   string // fixed text that is not a piece yet
	pieces    []piece
	numbers   int
}

func (p *pieceParser) parse() error {
	for {
		char := take(p.tokens, &p.at, tokenChar)
		name, group := p.group()
		if name != nil || group != nil {
			prefix := ""
			switch {
			case char == nil:
			case char.value == p.options.prefix:
				prefix = char.value
			default:
				p.pending += char.value
			}
			if err := p.flush(); err != nil {
				return err
			}
			if err := p.add(prefix, name, group, "", p.modifier()); err != nil {
				return err
			}
			continue
		}
		if char == nil {
			char = take(p.tokens, &p.at, tokenEscaped)
		}
		if char != nil {
			p.pending += char.value
			continue
		}
		if take(p.tokens, &p.at, tokenOpen) == nil {
			break
		}
		if err := p.braces(); err != nil {
			return err
		}
	}
	if err := p.flush(); err != nil {
		return err
	}
	if p.tokens[p.at].kind != tokenEnd {
		return p.unexpectedError()
	}
	return nil
}

func (p *pieceParser) braces() error {
	prefix := p.text()
	name, group := p.group()
	suffix := p.text()
	if take(p.tokens, &p.at, tokenClose) == nil {
		return p.unexpectedError()
	}
	return p.add(prefix, name, group, suffix, p.modifier())
}

func (p *pieceParser) unexpectedError() error {
	token := p.tokens[p.at]
	if token.kind == tokenEnd {
		return engine.TypeError("URLPattern: a brace is not closed in %q", p.source)
	}
	return engine.TypeError("URLPattern: unexpected %q at character %d of %q", token.value, token.at+1, p.source)
}

// group takes a name, an expression, or both; an asterisk only without a name.
func (p *pieceParser) group() (name, group *patternToken) {
	name = take(p.tokens, &p.at, tokenName)
	group = take(p.tokens, &p.at, tokenExpression)
	if name == nil && group == nil {
		group = take(p.tokens, &p.at, tokenAsterisk)
	}
	return name, group
}

func (p *pieceParser) text() string {
	var b strings.Builder
	for {
		token := take(p.tokens, &p.at, tokenChar, tokenEscaped)
		if token == nil {
			return b.String()
		}
		b.WriteString(token.value)
	}
}

func (p *pieceParser) modifier() string {
	if token := take(p.tokens, &p.at, tokenModifier, tokenAsterisk); token != nil {
		return token.value
	}
	return ""
}

func (p *pieceParser) flush() error {
	if p.pending == "" {
		return nil
	}
	text, err := p.canonical(p.pending)
	p.pending = ""
	p.pieces = append(p.pieces, piece{kind: pieceFixed, value: text})
	return err
}

func (p *pieceParser) add(prefix string, name, group *patternToken, suffix, modifier string) error {
	if name == nil && group == nil && modifier == "" {
		p.pending += prefix
		return nil
	}
	if err := p.flush(); err != nil {
		return err
	}
	head, err := p.canonical(prefix)
	if err != nil {
		return err
	}
	if name == nil && group == nil {
		if prefix != "" {
			p.pieces = append(p.pieces, piece{kind: pieceFixed, value: head, modifier: modifier})
		}
		return nil
	}
	tail, err := p.canonical(suffix)
	if err != nil {
		return err
	}
	made := piece{prefix: head, suffix: tail, modifier: modifier}
	switch {
	case group == nil, group.kind == tokenExpression && group.value == p.options.segment():
		made.kind = pieceSegment
	case group.kind == tokenAsterisk, group.value == wildcardExpression:
		made.kind = pieceWildcard
	default:
		made.kind, made.value = pieceExpression, group.value
	}
	if name != nil {
		made.name = name.value
	} else {
		made.name = strconv.Itoa(p.numbers)
		p.numbers++
	}
	for i := range p.pieces {
		if p.pieces[i].kind != pieceFixed && p.pieces[i].name == made.name {
			return engine.TypeError("URLPattern: the name %q is used twice in %q", made.name, p.source)
		}
	}
	p.pieces = append(p.pieces, made)
	return nil
}

func expressionOf(pieces []piece, options partOptions) string {
	var b strings.Builder
	b.WriteByte('^')
	for _, p := range pieces {
		if p.kind == pieceFixed {
			if p.modifier == "" {
				b.WriteString(escapeExpression(p.value))
			} else {
				b.WriteString("(?:" + escapeExpression(p.value) + ")" + p.modifier)
			}
			continue
		}
		inner := p.value
		switch p.kind {
		case pieceSegment:
			inner = options.segment()
		case pieceWildcard:
			inner = wildcardExpression
		default:
		}
		b.WriteString(groupExpression(p, inner))
	}
	b.WriteByte('$')
	return b.String()
}

func groupExpression(p piece, inner string) string {
	repeats := p.modifier == "*" || p.modifier == "+"
	prefix, suffix := escapeExpression(p.prefix), escapeExpression(p.suffix)
	switch {
	case prefix == "" && suffix == "" && !repeats:
		return "(" + inner + ")" + p.modifier
	case prefix == "" && suffix == "":
		return "((?:" + inner + ")" + p.modifier + ")"
	case !repeats:
		return "(?:" + prefix + "(" + inner + ")" + suffix + ")" + p.modifier
	}
	all := "(?:" + prefix + "((?:" + inner + ")(?:" + suffix + prefix + "(?:" + inner + "))*)" + suffix + ")"
	if p.modifier == "*" {
		all += "?"
	}
	return all
}

// patternText is the pattern of the pieces, as short as it can be written.
func patternText(pieces []piece, options partOptions) string {
	var b strings.Builder
	for i := range pieces {
		p := &pieces[i]
		if p.kind == pieceFixed {
			if p.modifier == "" {
				b.WriteString(escapePattern(p.value))
			} else {
				b.WriteString("{" + escapePattern(p.value) + "}" + p.modifier)
			}
			continue
		}
		var previous, next *piece
		if i > 0 {
			previous = &pieces[i-1]
		}
		if i+1 < len(pieces) {
			next = &pieces[i+1]
		}
		text := escapePattern(p.prefix) + groupText(p, previous, needsBraces(p, previous, next, options), options) + escapePattern(p.suffix)
		if needsBraces(p, previous, next, options) {
			text = "{" + text + "}"
		}
		b.WriteString(text + p.modifier)
	}
	return b.String()
}

// needsBraces reports whether a group would be read another way without them.
func needsBraces(p, previous, next *piece, options partOptions) bool {
	if p.suffix != "" || p.prefix != "" && p.prefix != options.prefix {
		return true
	}
	if p.isNamed() && p.kind == pieceSegment && p.modifier == "" && next != nil && next.prefix == "" && next.suffix == "" {
		if next.kind == pieceFixed {
			first, _ := utf8.DecodeRuneInString(next.value)
			if isNameRune(first, false) {
				return true
			}
		} else if !next.isNamed() {
			return true
		}
	}
	return p.prefix == "" && previous != nil && previous.kind == pieceFixed &&
		options.prefix != "" && strings.HasSuffix(previous.value, options.prefix)
}

func groupText(p, previous *piece, braces bool, options partOptions) string {
	text := ""
	if p.isNamed() {
		text = ":" + p.name
	}
	switch p.kind {
	case pieceExpression:
		text += "(" + p.value + ")"
	case pieceSegment:
		if !p.isNamed() {
			text += "(" + options.segment() + ")"
		}
	case pieceWildcard:
		alone := previous == nil || previous.kind == pieceFixed || previous.modifier != "" || braces || p.prefix != ""
		if !p.isNamed() && alone {
			text += "*"
		} else {
			text += "(" + wildcardExpression + ")"
		}
	default:
	}
	if first, _ := utf8.DecodeRuneInString(p.suffix); p.kind == pieceSegment && p.isNamed() && p.suffix != "" && isNameRune(first, false) {
		text += `\`
	}
	return text
}

func escapePattern(text string) string    { return escapeAny(text, `+*?:{}()\`) }
func escapeExpression(text string) string { return escapeAny(text, `.+*?^${}()[]|/\`) }

func escapeAny(text, characters string) string {
	if !strings.ContainsAny(text, characters) {
		return text
	}
	var b strings.Builder
	for i := range len(text) {
		if strings.IndexByte(characters, text[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// escapeReserved writes by their number the characters outside of classes that the flag v reserves
// in classes alone, as the hyphen of /foo-bar/v: the engine refuses them anywhere.
func escapeReserved(expression string) string {
	var b strings.Builder
	classes := 0
	for i := 0; i < len(expression); {
		rest := expression[i:]
		n := syntaxLength(rest)
		switch {
		case n > 1: // an escape, or the head of a group
		case rest[0] == '[':
			classes++
		case rest[0] == ']':
			classes = max(classes-1, 0)
		case classes == 0 && (strings.IndexByte("-/&!#%:;<=>@`~", rest[0]) >= 0 || strings.HasPrefix(rest, ",,")):
			fmt.Fprintf(&b, `\x%02x`, rest[0])
			i++
			continue
		}
		b.WriteString(rest[:n])
		i += n
	}
	return b.String()
}

// syntaxLength is the length of the escape or the head of a group that rest begins with, or 1.
func syntaxLength(rest string) int {
	switch {
	case strings.HasPrefix(rest, "(?"):
		return 1 + indexOrEnd(rest[1:], ":=!>")
	case strings.HasPrefix(rest, `\k<`):
		return indexOrEnd(rest, ">")
	case strings.HasPrefix(rest, `\p{`), strings.HasPrefix(rest, `\P{`), strings.HasPrefix(rest, `\u{`):
		return indexOrEnd(rest, "}")
	case rest[0] == '\\':
		return min(len(rest), len(`\x`))
	default:
		return 1
	}
}

func indexOrEnd(text, characters string) int {
	if at := strings.IndexAny(text, characters); at >= 0 {
		return at + 1
	}
	return len(text)
}
