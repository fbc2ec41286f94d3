package htmlrewriter

import (
	"bytes"
	"strings"
)

// tagReader reads the attributes of a tag (HTML standard, 13.2.5.8 and the states from 13.2.5.32
// on).
type tagReader struct {
	b  []byte
	at int
}

// scanTag returns the tag at the start of b; its name is at from. markupNone means that the tag is incomplete.
func scanTag(b []byte, from int, kind markupKind) htmlToken {
	r := tagReader{b: b, at: from}
	r.until(htmlSpace + "/>")
	token := htmlToken{kind: kind, name: lowerASCII(b[from:r.at])}
	for {
		r.skip()
		switch r.peek() {
		case -1:
			return htmlToken{}
		case '>':
			token.raw = b[:r.at+1]
			return token
		case '/':
			r.at++
			token.selfClosing = r.peek() == '>'
		default:
			attribute, ok := r.attribute()
			if !ok {
				return htmlToken{}
			}
			token.attributes = append(token.attributes, attribute)
		}
	}
}

// lowerASCII puts ASCII letters in lower case, and leaves all other bytes.
func lowerASCII(b []byte) string {
	out := bytes.Clone(b)
	for i, c := range out {
		if 'A' <= c && c <= 'Z' {
			out[i] = c + 'a' - 'A'
		}
	}
	return string(out)
}

func (r *tagReader) peek() int {
	if r.at >= len(r.b) {
		return -1
	}
	return int(r.b[r.at])
}

func (r *tagReader) until(stops string) {
	for r.at < len(r.b) && strings.IndexByte(stops, r.b[r.at]) < 0 {
		r.at++
	}
}

func (r *tagReader) skip() {
	for r.at < len(r.b) && strings.IndexByte(htmlSpace, r.b[r.at]) >= 0 {
		r.at++
	}
}

func (r *tagReader) attribute() (a htmlAttribute, ok bool) {
	start := r.at
	r.at++ // an = may begin a name
	r.until(htmlSpace + "/>=")
	a.name = lowerASCII(r.b[start:r.at])
	end := r.at
	r.skip()
	if r.peek() != '=' {
		a.raw = r.b[start:end]
		return a, r.at < len(r.b)
	}
	r.at++
	r.skip()
	value, ok := r.value()
	a.value, a.raw = string(value), r.b[start:r.at]
	return a, ok
}

func (r *tagReader) value() (value []byte, ok bool) {
	quote := r.peek()
	if quote != '"' && quote != '\'' {
		from := r.at
		r.until(htmlSpace + ">")
		return r.b[from:r.at], r.at < len(r.b)
	}
	r.at++
	n := bytes.IndexByte(r.b[r.at:], byte(quote))
	if n < 0 {
		return nil, false
	}
	value = r.b[r.at : r.at+n]
	r.at += n + 1
	return value, true
}

// doctype holds the parts of a doctype; nil is a missing one.
type doctype struct{ name, public, system *string }

// parseDoctype reads a doctype (HTML standard, from 13.2.5.53 on).
func parseDoctype(raw []byte) (d doctype) {
	r := tagReader{b: bytes.TrimSuffix(raw, []byte(">")), at: len(markDoctype)}
	r.skip()
	from := r.at
	r.until(htmlSpace)
	if r.at == from {
		return d
	}
	name := lowerASCII(r.b[from:r.at])
	d.name = &name
	r.skip()
	const word = len("public")
	if len(r.b)-r.at < word {
		return d
	}
	keyword := lowerASCII(r.b[r.at : r.at+word])
	r.at += word
	switch keyword {
	case "public":
		if d.public = r.readQuoted(); d.public != nil {
			d.system = r.readQuoted()
		}
	case "system":
		d.system = r.readQuoted()
	}
	return d
}

// readQuoted is the text in quotes that comes next; nil when none does.
func (r *tagReader) readQuoted() *string {
	r.skip()
	quote := r.peek()
	if quote != '"' && quote != '\'' {
		return nil
	}
	r.at++
	from := r.at
	r.until(string(rune(quote)))
	text := string(r.b[from:r.at])
	r.at++
	return &text
}
