package htmlrewriter

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/pages-toolchain/pages/runtime/engine"
)

// The texts are the platform's.
const (
	selectorEmpty     = "The selector is empty."
	selectorEnd       = "Unexpected end of selector."
	selectorToken     = "Unexpected token in selector."
	selectorPseudo    = "Unsupported pseudo-class or pseudo-element in selector."
	selectorNamespace = "Selectors with explicit namespaces are not supported."
)

func errSelector(text string) error { return engine.TypeError("Parser error: %s", text) }

// selectorParser reads selectors (Selectors Level 4, as far as a stream can answer them).
type selectorParser struct {
	text string
	at   int
	list selectorList
}

var cssComment = regexp.MustCompile(`(?s)/\*.*?(\*/|$)`)

const maxSelector = 16 << 10 // bytes

func parseSelector(text string) (*selectorList, error) {
	if len(text) > maxSelector {
		return nil, engine.TypeError("Parser error: the selector has %d bytes, over %d", len(text), maxSelector)
	}
	p := selectorParser{text: cssComment.ReplaceAllString(text, "")}
	for {
		parts, err := p.complex(',')
		if err != nil {
			return nil, err
		}
		p.list.selectors = append(p.list.selectors, parts)
		if p.at == len(p.text) {
			return &p.list, nil
		}
		p.at++ // the comma
	}
}

func (p *selectorParser) peek() byte {
	if p.at < len(p.text) {
		return p.text[p.at]
	}
	return 0
}

func (p *selectorParser) space() bool {
	from := p.at
	for p.at < len(p.text) && strings.IndexByte(htmlSpace, p.text[p.at]) >= 0 {
		p.at++
	}
	return p.at > from
}

// complex reads up to a comma or the end; end, too, ends it.
func (p *selectorParser) complex(end byte) (parts []selectorPart, err error) {
	child := false
	p.space()
	for {
		c, err := p.compound()
		if err != nil {
			return nil, err
		}
		parts = append(parts, selectorPart{compound: c, child: child})
		spaced := p.space()
		child = false
		switch next := p.peek(); {
		case next == 0 && p.at == len(p.text), next == ',', next == end:
			return parts, nil
		case next == '>':
			child = true
			p.at++
			p.space()
			if p.at == len(p.text) {
				return nil, errSelector("Dangling combinator in selector.")
			}
		case next == '+', next == '~':
			return nil, errSelector("Unsupported combinator `" + string(next) + "` in selector.")
		case !spaced:
			return nil, errSelector(selectorToken)
		}
	}
}

func (p *selectorParser) compound() (compound, error) {
	c := compound{}
	from := p.at
	if err := p.typeSelector(&c); err != nil {
		return nil, err
	}
	for {
		var test selectorTest
		var err error
		switch p.peek() {
		case '.':
			test, err = p.class(p.at > from)
		case '#':
			test, err = p.id()
		case '[':
			test, err = p.attribute()
		case ':':
			test, err = p.pseudo()
		default:
			if p.at == from {
				return nil, errSelector(selectorEmpty)
			}
			return c, nil
		}
		if err != nil {
			return nil, err
		}
		c = append(c, test)
	}
}

func (p *selectorParser) typeSelector(c *compound) error {
	switch name, ok := p.identifier(); {
	case ok:
		name = lowerASCII([]byte(name))
		*c = append(*c, func(m *matchable) bool { return m.name == name })
	case p.peek() == '*':
		p.at++
		if strings.HasPrefix(p.text[p.at:], "|*") {
			p.at += len("|*")
		}
	}
	if p.peek() == '|' {
		return errSelector(selectorNamespace)
	}
	return nil
}

func isIdentifierStart(c byte) bool { return isLetter(c) || c == '_' || c >= utf8.RuneSelf }

// identifier reads an identifier with its escapes (CSS Syntax, 4.3.11).
func (p *selectorParser) identifier() (name string, ok bool) {
	start := p.text[p.at:]
	rest := strings.TrimPrefix(start, "-")
	if !strings.HasPrefix(start, "--") && (rest == "" || !isIdentifierStart(rest[0]) && (rest[0] != '\\' || len(rest) == 1)) {
		return "", false
	}
	return p.name(), true
}

func (p *selectorParser) name() string {
	var b strings.Builder
	for p.at < len(p.text) {
		switch c := p.text[p.at]; {
		case isIdentifierStart(c), '0' <= c && c <= '9', c == '-':
			b.WriteByte(c)
			p.at++
		case c == '\\' && p.at+1 < len(p.text):
			p.at++
			b.WriteRune(p.escape())
		default:
			return b.String()
		}
	}
	return b.String()
}

// escape reads an escape after its backslash (CSS Syntax, 4.3.7).
func (p *selectorParser) escape() rune {
	const most = 6
	from := p.at
	for p.at < len(p.text) && p.at < from+most && strings.IndexByte("0123456789abcdefABCDEF", p.text[p.at]) >= 0 {
		p.at++
	}
	if p.at == from {
		r, size := utf8.DecodeRuneInString(p.text[p.at:])
		p.at += size
		return r
	}
	n, err := strconv.ParseUint(p.text[from:p.at], 16, 32)
	if p.at < len(p.text) && strings.IndexByte(htmlSpace, p.text[p.at]) >= 0 {
		p.at++
	}
	if r := rune(n); err == nil && n != 0 && utf8.ValidRune(r) {
		return r
	}
	return utf8.RuneError
}

func (p *selectorParser) class(follows bool) (selectorTest, error) {
	p.at++
	name, ok := p.identifier()
	switch {
	case ok:
		return func(m *matchable) bool {
			classes, _ := m.attribute("class")
			return slices.Contains(strings.FieldsFunc(classes, isHTMLSpace), name)
		}, nil
	case p.at == len(p.text):
		return nil, errSelector(selectorEnd)
	case '0' <= p.peek() && p.peek() <= '9' && !follows:
		return nil, errSelector(selectorEmpty)
	default:
		return nil, errSelector("Invalid or unescaped class name in selector.")
	}
}

func (p *selectorParser) id() (selectorTest, error) {
	p.at++
	name, ok := p.identifier()
	if !ok {
		return nil, errSelector(selectorEmpty)
	}
	return func(m *matchable) bool {
		id, found := m.attribute("id")
		return found && id == name
	}, nil
}

// attribute reads [name], [name=value], [name="value" i]. The closing bracket may be missing at the
// end.
func (p *selectorParser) attribute() (selectorTest, error) {
	p.at++
	p.space()
	name, ok := p.identifier()
	if !ok {
		if p.at == len(p.text) {
			return nil, errSelector(selectorEnd)
		}
		return nil, errSelector("Missing attribute name in attribute selector.")
	}
	name = lowerASCII([]byte(name))
	p.space()
	if p.skipClosing(']') {
		return func(m *matchable) bool {
			_, found := m.attribute(name)
			return found
		}, nil
	}
	operator, err := p.operator()
	if err != nil {
		return nil, err
	}
	p.space()
	value, err := p.value()
	if err != nil {
		return nil, err
	}
	p.space()
	flag, _ := p.identifier()
	flag = strings.ToLower(flag)
	p.space()
	if !p.skipClosing(']') || flag != "" && flag != "i" && flag != "s" {
		return nil, errSelector(selectorToken)
	}
	return attributeTest(name, operator, value, flag), nil
}

// skipClosing steps over a closing bracket; the end closes all.
func (p *selectorParser) skipClosing(bracket byte) bool {
	if p.at == len(p.text) {
		return true
	}
	if p.peek() != bracket {
		return false
	}
	p.at++
	return true
}

func (p *selectorParser) operator() (string, error) {
	rest := p.text[p.at:]
	for _, operator := range []string{"=", "~=", "|=", "^=", "$=", "*="} {
		if strings.HasPrefix(rest, operator) {
			p.at += len(operator)
			return operator, nil
		}
	}
	if rest[0] == '|' {
		return "", errSelector(selectorNamespace)
	}
	return "", errSelector("Unexpected token in the attribute selector.")
}

func (p *selectorParser) value() (string, error) {
	quote := p.peek()
	if quote != '"' && quote != '\'' {
		if value, ok := p.identifier(); ok {
			return value, nil
		}
		if p.skipClosing(']') {
			return "", errSelector(selectorEnd)
		}
		return "", errSelector(selectorToken)
	}
	p.at++
	var b strings.Builder
	for p.at < len(p.text) && p.text[p.at] != quote {
		if p.text[p.at] == '\\' && p.at+1 < len(p.text) {
			p.at++
			b.WriteRune(p.escape())
			continue
		}
		b.WriteByte(p.text[p.at])
		p.at++
	}
	p.skipClosing(quote)
	return b.String(), nil
}

func (p *selectorParser) pseudo() (selectorTest, error) {
	p.at++
	if p.at == len(p.text) {
		return nil, errSelector(selectorEnd)
	}
	name, _ := p.identifier()
	name = strings.ToLower(name)
	isFunction := p.peek() == '('
	if isFunction {
		p.at++
	}
	switch {
	case name == "first-child" && !isFunction:
		return func(m *matchable) bool { return m.child == 1 }, nil
	case name == "first-of-type" && !isFunction:
		p.list.ofType = true
		return func(m *matchable) bool { return m.ofType == 1 }, nil
	case name == "nth-child" && isFunction:
		n, err := p.nth()
		return func(m *matchable) bool { return n.matches(m.child) }, err
	case name == "nth-of-type" && isFunction:
		p.list.ofType = true
		n, err := p.nth()
		return func(m *matchable) bool { return n.matches(m.ofType) }, err
	case name == "not" && isFunction:
		return p.not()
	}
	return nil, errSelector(selectorPseudo)
}

var nthForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([+-]?\d*)n(?:\s*([+-])\s*(\d+))?$`) })

// nth reads odd, even, 3, 2n+1, -n + 3 and the closing bracket.
func (p *selectorParser) nth() (nth, error) {
	inside, _, _ := strings.Cut(p.text[p.at:], ")")
	p.at = min(p.at+len(inside)+1, len(p.text))
	form := strings.ToLower(strings.Trim(inside, htmlSpace))
	switch form {
	case "":
		return nth{}, errSelector(selectorEnd)
	case "odd":
		return nth{2, 1}, nil
	case "even":
		return nth{2, 0}, nil
	}
	if b, err := strconv.Atoi(form); err == nil {
		return nth{0, b}, nil
	}
	found := nthForm().FindStringSubmatch(form)
	if found == nil {
		return nth{}, errSelector(selectorToken)
	}
	if found[1] == "" || found[1] == "+" || found[1] == "-" {
		found[1] += "1"
	}
	if found[3] == "" {
		found[3] = "0"
	}
	a, errA := strconv.Atoi(found[1])
	b, errB := strconv.Atoi(found[2] + found[3])
	if errA != nil || errB != nil {
		return nth{}, errSelector(selectorToken)
	}
	return nth{a, b}, nil
}

// not reads a list of compounds: the argument of :not() looks at one element.
func (p *selectorParser) not() (selectorTest, error) {
	var refused []compound
	for {
		parts, err := p.complex(')')
		if err != nil {
			return nil, err
		}
		if len(parts) > 1 {
			return nil, errSelector(selectorPseudo)
		}
		refused = append(refused, parts[0].compound)
		if p.skipClosing(')') {
			break
		}
		p.at++ // the comma
	}
	return func(m *matchable) bool {
		return !slices.ContainsFunc(refused, func(c compound) bool { return c.matches(m) })
	}, nil
}
