package htmlrewriter

// This file knows what the names of elements mean to a parser (HTML standard,
// 13.1.2 and 13.2.6).

// namespace is one of the three that HTML has.
type namespace uint8

const (
	namespaceHTML namespace = iota
	namespaceSVG
	namespaceMathML
)

func (n namespace) uri() string {
	switch n {
	case namespaceSVG:
		return "http://www.w3.org/2000/svg"
	case namespaceMathML:
		return "http://www.w3.org/1998/Math/MathML"
	default:
		return "http://www.w3.org/1999/xhtml"
	}
}

// namespaceOf is the namespace of an element, and that of what it holds.
func namespaceOf(token *htmlToken, around namespace) (own, inside namespace) {
	switch {
	case around == namespaceHTML && token.name == "svg":
		return namespaceSVG, namespaceSVG
	case around == namespaceHTML && token.name == "math":
		return namespaceMathML, namespaceMathML
	case around == namespaceHTML, breaksOut(token):
		return namespaceHTML, namespaceHTML
	case around == namespaceSVG:
		switch token.name {
		case "foreignobject", "desc", "title":
			return namespaceSVG, namespaceHTML
		}
	default:
		switch token.name {
		case "mi", "mo", "mn", "ms", "mtext":
			return namespaceMathML, namespaceHTML
		case "annotation-xml":
			m := matchable{attributes: token.attributes}
			switch encoding, _ := m.attribute("encoding"); lowered([]byte(encoding)) {
			case "text/html", "application/xhtml+xml":
				return namespaceMathML, namespaceHTML
			}
		}
	}
	return around, around
}

// breaksOut reports whether a start tag in foreign content belongs to HTML.
func breaksOut(token *htmlToken) bool {
	switch token.name {
	case "b", "big", "blockquote", "body", "br", "center", "code", "dd", "div", "dl", "dt", "em", "embed",
		"h1", "h2", "h3", "h4", "h5", "h6", "head", "hr", "i", "img", "li", "listing", "menu", "meta", "nobr", "ol",
		"p", "pre", "ruby", "s", "small", "span", "strong", "strike", "sub", "sup", "table", "tt", "u", "ul", "var":
		return true
	case "font":
		m := matchable{attributes: token.attributes}
		for _, name := range []string{"color", "face", "size"} {
			if _, found := m.attribute(name); found {
				return true
			}
		}
	}
	return false
}

// isVoid reports whether an element never has content.
func isVoid(name string) bool {
	switch name {
	case "area", "base", "basefont", "bgsound", "br", "col", "embed", "frame", "hr", "img", "input", "keygen", "link",
		"meta", "param", "source", "track", "wbr":
		return true
	}
	return false
}

// textIn is how text in an element of HTML is read.
func textIn(name string) textMode {
	switch name {
	case "title", "textarea", "style", "xmp", "iframe", "noembed", "noframes", "noscript":
		return modeRaw
	case "script":
		return modeScript
	case "plaintext":
		return modePlain
	}
	return modeData
}

// read sets how text in an element of HTML is read.
func (s *htmlScanner) read(name string) {
	if mode := textIn(name); mode != modeData {
		s.mode, s.element, s.script = mode, name, scriptPlain
	}
}

// leave is for the end tag of an element: text is read as usual again.
func (s *htmlScanner) leave() { s.mode = modeData }
