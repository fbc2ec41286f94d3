// Package jsontree reads JSON, and JSON with comments, into a tree of nodes with spans. Invalid text gives every syntax
// error with its place, its message and a fix, and the readable part of the tree.
//
// Numbers are read by their exact decimal value, and nesting is bounded. No function panics on bad input. All functions are
// safe for concurrent use; a tree belongs to one goroutine. The package knows no key of the manifest.
package jsontree

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/pages-toolchain/pages/manifest/sourcetext"
)

const maxDepth = 64 // how deep brackets may be nested

// parser reads strict JSON (RFC 8259) into nodes with positions. The standard library's decoder drops duplicate keys, folds
// case and stops at the first fault; this one keeps every key and reads on after a fault with an obvious meaning (a comment,
// a trailing comma, NaN).
type parser struct {
	src    string
	pos    int
	depth  int
	loose  bool // allows comments and trailing commas, like the configs of other tools
	faults []Fault
}

// Fault is a syntax error.
type Fault struct {
	sourcetext.Span
	Msg, Fix string
}

// Parse returns the document, nil when it could not be read to its end, and every syntax error found.
func Parse(src string) (*Node, []Fault) {
	return (&parser{src: src}).document()
}

// ParseJSONC is Parse for a file that may have comments and trailing commas.
func ParseJSONC(src string) (*Node, []Fault) {
	return (&parser{src: src, loose: true}).document()
}

func (p *parser) document() (*Node, []Fault) {
	root := p.read()
	if len(p.faults) == 0 {
		return root, nil
	}
	if start := strings.Index("\n"+p.src, "\n<<<<<<< "); start >= 0 { // the line that opens a merge conflict of git
		line, _, _ := strings.Cut(p.src[start:], "\n")
		at := sourcetext.Span{Start: start, End: start + len(strings.TrimSuffix(line, "\r"))}
		return nil, []Fault{{
			at, "a merge conflict is not resolved yet",
			"keep one side, and remove the lines that begin with <<<<<<<, ======= and >>>>>>>",
		}}
	}
	return root, p.faults
}

// read reads the document, nil when it cannot be read to its end.
func (p *parser) read() *Node {
	if !p.encoding() {
		return nil
	}
	p.space()
	if p.pos == len(p.src) {
		p.fault(sourcetext.Span{Start: p.pos, End: p.pos}, "the file is empty", "write {} for a static site without files")
		return nil
	}
	root, ok := p.value()
	if !ok {
		return nil
	}
	p.space()
	if p.pos < len(p.src) {
		p.fault(p.word(), "more text after the end of the JSON document", "keep one JSON object in the file")
	}
	return root
}

func (p *parser) fault(at sourcetext.Span, msg, fix string) {
	p.faults = append(p.faults, Fault{at, msg, fix})
}

// tolerable is fault for syntax that a loose parser allows.
func (p *parser) tolerable(at sourcetext.Span, msg, fix string) {
	if !p.loose {
		p.fault(at, msg, fix)
	}
}

// encoding refuses text that is not UTF-8, and reports and skips a byte order mark.
func (p *parser) encoding() bool {
	const fix = "save the file as UTF-8 without a byte order mark"
	bare := len(p.src) > 1 && (p.src[0] == 0) != (p.src[1] == 0) // without a byte order mark
	if bare || strings.HasPrefix(p.src, "\xff\xfe") || strings.HasPrefix(p.src, "\xfe\xff") {
		p.fault(sourcetext.Span{}, "the file is UTF-16, not UTF-8", fix)
		return false
	}
	for i, r := range p.src {
		if r != utf8.RuneError {
			continue
		}
		if _, n := utf8.DecodeRuneInString(p.src[i:]); n == 1 {
			p.fault(sourcetext.Span{Start: i, End: i + 1}, fmt.Sprintf("byte 0x%02x is not UTF-8", p.src[i]), fix)
			return false
		}
	}
	if strings.HasPrefix(p.src, sourcetext.ByteOrderMark) {
		p.pos = len(sourcetext.ByteOrderMark)
		p.fault(sourcetext.Span{Start: p.pos, End: p.pos}, "the file starts with a byte order mark", fix)
	}
	return true
}

// space skips white space, and comments after reporting them.
func (p *parser) space() {
	for p.pos < len(p.src) {
		switch p.src[p.pos] {
		case ' ', '\t', '\n', '\r':
			p.pos++
		case '/', '#':
			rest := p.src[p.pos:]
			n := len(rest) // of a comment without an end
			switch {
			case strings.HasPrefix(rest, "/*"):
				if end := strings.Index(rest[2:], "*/"); end >= 0 {
					n = end + 4
				}
			case strings.HasPrefix(rest, "//"), rest[0] == '#':
				if end := strings.IndexAny(rest, "\r\n"); end >= 0 {
					n = end
				}
			default:
				return
			}
			p.tolerable(sourcetext.Span{Start: p.pos, End: p.pos + n}, "comments are not allowed in JSON", "remove the comment")
			p.pos += n
		default:
			return
		}
	}
}

// value reads one value; false means that reading cannot continue, for a reported reason.
func (p *parser) value() (*Node, bool) {
	p.space()
	if p.pos == len(p.src) {
		return nil, p.failUnexpected("a value", "write a value")
	}
	switch c := p.src[p.pos]; {
	case c == '{' || c == '[':
		if p.depth == maxDepth {
			p.fault(sourcetext.Span{Start: p.pos, End: p.pos + 1},
				fmt.Sprintf("nested deeper than %d levels", maxDepth), "a manifest needs five at most")
			return nil, false
		}
		p.depth++
		defer func() { p.depth-- }()
		if c == '{' {
			return p.object()
		}
		return p.array()
	case c == '"' || c == '\'':
		n := &Node{}
		return n, p.str(n)
	case IsWordByte(c) || c == '-' || c == '+' || c == '.':
		return p.literal(), true
	default:
		return nil, p.failUnexpected("a value", "write a value")
	}
}

func (p *parser) object() (*Node, bool) {
	n := &Node{Span: sourcetext.Span{Start: p.pos}, Kind: ObjectNode}
	p.pos++
	for first := true; ; first = false {
		done, ok := p.separator(n.Start, '}', first)
		if !ok {
			return nil, false
		}
		if done {
			n.End = p.pos
			return n, true
		}
		var key Node
		if !p.key(&key) {
			return nil, false
		}
		p.space()
		if p.pos == len(p.src) || p.src[p.pos] != ':' {
			return nil, p.failUnexpected(`":"`, `put ":" between the key `+sourcetext.Quote(key.Text)+" and its value")
		}
		p.pos++
		v, ok := p.value()
		if !ok {
			return nil, false
		}
		if n.Members == nil {
			n.Members = make([]member, 0, 2) // as most have
		}
		n.Members = append(n.Members, member{key.Text, key.Span, v})
	}
}

func (p *parser) array() (*Node, bool) {
	n := &Node{Span: sourcetext.Span{Start: p.pos}, Kind: ArrayNode}
	p.pos++
	for first := true; ; first = false {
		done, ok := p.separator(n.Start, ']', first)
		if !ok {
			return nil, false
		}
		if done {
			n.End = p.pos
			return n, true
		}
		v, ok := p.value()
		if !ok {
			return nil, false
		}
		n.Items = append(n.Items, v)
	}
}

// separator reads the comma between two members or items, or the closing bracket (done) of the one at the offset open.
func (p *parser) separator(open int, closing byte, first bool) (done, ok bool) {
	last := p.pos
	p.space()
	comma := sourcetext.Span{Start: p.pos, End: p.pos}
	for !first && p.pos < len(p.src) && p.src[p.pos] == ',' && comma.Start == comma.End {
		p.pos++
		comma.End = p.pos
		p.space()
	}
	if p.pos == len(p.src) {
		line := 1 + strings.Count(p.src[:open], "\n")
		msg := fmt.Sprintf("the file ends before the %s of line %d is closed", sourcetext.Quote(p.src[open:open+1]), line)
		p.fault(sourcetext.Span{Start: p.pos, End: p.pos}, msg, "add "+sourcetext.Quote(string(closing)))
		return false, false
	}
	c := p.src[p.pos]
	switch {
	case c == closing:
		if comma.Start != comma.End {
			p.tolerable(comma, "a comma before "+sourcetext.Quote(string(closing)), "remove the comma")
		}
		p.pos++
		return true, true
	case first || comma.Start != comma.End:
		return false, true
	case c == '"' || c == '\'' || IsWordByte(c) || closing == ']' && (c == '{' || c == '[' || c == '-'):
		p.fault(sourcetext.Span{Start: last, End: last}, "a comma is missing here", "add a comma")
		return false, true
	default:
		return false, p.failUnexpected(`"," or `+sourcetext.Quote(string(closing)),
			"remove it, or write "+sourcetext.Quote(string(closing))+" before it")
	}
}

// key reads an object's key. An unquoted one is reported and taken.
func (p *parser) key(n *Node) bool {
	c := p.src[p.pos]
	if c == '"' || c == '\'' {
		return p.str(n)
	}
	if !IsWordByte(c) {
		return p.failUnexpected("a key", "write a key in double quotes")
	}
	at := p.word()
	p.pos = at.End
	text := p.src[at.Start:at.End]
	p.fault(at, fmt.Sprintf("the key %s is not in double quotes", sourcetext.Quote(text)), "write "+strconv.Quote(text))
	*n = Node{Span: at, Kind: StringNode, Text: text}
	return true
}

// failUnexpected reports a fault that ends the reading. It returns false, for the caller to return.
func (p *parser) failUnexpected(want, fix string) bool {
	if p.pos == len(p.src) {
		p.fault(sourcetext.Span{Start: p.pos, End: p.pos}, "the file ends where "+want+" was expected", fix)
		return false
	}
	r, n := utf8.DecodeRuneInString(p.src[p.pos:])
	if r == ',' {
		fix = "remove the comma"
	}
	p.fault(sourcetext.Span{Start: p.pos, End: p.pos + n},
		fmt.Sprintf("unexpected %s where %s was expected", sourcetext.Quote(string(r)), want), fix)
	return false
}

// word returns the run of letters, digits and signs at the current position, at least one character.
func (p *parser) word() sourcetext.Span {
	end := p.pos
	for end < len(p.src) && (IsWordByte(p.src[end]) || strings.IndexByte("+-.", p.src[end]) >= 0) {
		end++
	}
	if end == p.pos && end < len(p.src) {
		_, n := utf8.DecodeRuneInString(p.src[end:])
		end += n
	}
	return sourcetext.Span{Start: p.pos, End: end}
}

// IsWordByte reports whether a byte may be part of a bare word, such as true.
func IsWordByte(c byte) bool {
	return c == '_' || c == '$' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// literal reads a number or one of the three words; any other word is reported and skipped.
func (p *parser) literal() *Node {
	n := &Node{Span: p.word()}
	p.pos = n.End
	n.Text = p.src[n.Start:n.End]
	switch n.Text {
	case "null":
		n.Kind = NullNode
	case "true", "false":
		n.Kind = BoolNode
	default:
		msg, fix := literalFault(n.Text)
		if msg == "" {
			n.Kind = NumberNode
			break
		}
		p.fault(n.Span, msg, fix)
	}
	return n
}

// str reads a string in double quotes; single quotes are reported and read alike.
func (p *parser) str(n *Node) bool {
	*n = Node{Span: sourcetext.Span{Start: p.pos}, Kind: StringNode}
	quoted, faults := p.src[p.pos], len(p.faults)
	p.pos++
	from, plain := p.pos, true
	for p.pos < len(p.src) && p.src[p.pos] != quoted && p.src[p.pos] != '\n' {
		switch c := p.src[p.pos]; {
		case c == '\\':
			plain = false
			p.pos++
		case c < 0x20 && !strings.HasPrefix(p.src[p.pos:], "\r\n"):
			p.fault(sourcetext.Span{Start: p.pos, End: p.pos + 1},
				fmt.Sprintf("a raw control character %U inside a string", c), fmt.Sprintf(`write \u%04x`, c))
		}
		p.pos++
	}
	if p.pos >= len(p.src) || p.src[p.pos] != quoted {
		p.pos = min(p.pos, len(p.src))
		end := n.Start + len(strings.TrimRight(p.src[n.Start:p.pos], "\r\n"))
		p.fault(sourcetext.Span{Start: n.Start, End: end}, "the string is not closed on its line", `add the closing "`)
		return false
	}
	body := p.src[from:p.pos]
	p.pos++
	n.End, n.Text = p.pos, body
	if !plain {
		n.Text = p.unescape(body, from)
	}
	if len(p.faults) > faults {
		n.Kind = BadNode
	}
	if quoted == '\'' {
		p.fault(n.Span, "a string in single quotes", "use double quotes")
	}
	return true
}

// unescape decodes the escapes of a string whose first byte is at offset.
func (p *parser) unescape(body string, offset int) string {
	var b strings.Builder
	b.Grow(len(body))
	for i := 0; i < len(body); {
		if body[i] != '\\' {
			b.WriteByte(body[i])
			i++
			continue
		}
		r, n := unescapeOne(body[i:])
		if r < 0 {
			_, width := utf8.DecodeRuneInString(body[i+1:])
			n = max(n, 1+width)
			what := fmt.Sprintf("%s is not an escape of a character", sourcetext.Quote(body[i:i+n]))
			p.fault(sourcetext.Span{Start: offset + i, End: offset + i + n}, what,
				`JSON knows \" \\ \/ \b \f \n \r \t and \u with four hex digits`)
			r = utf8.RuneError
		}
		b.WriteRune(r)
		i += n
	}
	return b.String()
}

// unescapeOne decodes the escape at the start of s and returns its length, or -1 and the length of its valid part.
func unescapeOne(s string) (r rune, n int) {
	if i := strings.IndexByte(`"\/bfnrt`, s[1]); i >= 0 {
		return rune("\"\\/\b\f\n\r\t"[i]), 2
	}
	r, ok := hex4(s)
	if !ok {
		return -1, 0
	}
	if !utf16.IsSurrogate(r) {
		return r, 6
	}
	low, ok := hex4(s[6:])
	if pair := utf16.DecodeRune(r, low); ok && pair != utf8.RuneError {
		return pair, 12
	}
	return -1, 6
}

// hex4 decodes \uXXXX at the start of s.
func hex4(s string) (rune, bool) {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return 0, false
	}
	v, err := strconv.ParseUint(s[2:6], 16, 32)
	return rune(v), err == nil
}

// Unescape decodes the inside of a string, which the end of its line may cut in an escape.
func Unescape(raw string) string {
	if last := len(raw) - len(strings.TrimRight(raw, `\`)); last%2 == 1 {
		raw = raw[:len(raw)-1]
	}
	return (&parser{src: raw}).unescape(raw, 0)
}
