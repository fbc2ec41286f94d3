package htmlrewriter

import "github.com/pages-toolchain/pages/runtime/engine"

// This file classifies the names of elements for a parser (HTML standard, 13.1.2 and 13.2.6).

type namespace uint8

const (
	namespaceHTML namespace = iota
	namespaceSVG
	namespaceMathML
)

var namespaceURIs = [...]string{ //nolint:gochecknoglobals // a table
	namespaceHTML: "http://www.w3.org/1999/xhtml", namespaceSVG: "http://www.w3.org/2000/svg",
	namespaceMathML: "http://www.w3.org/1998/Math/MathML",
}

// namespaceOf is the namespace of an element, and that of its contents.
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
			switch encoding, _ := m.attribute("encoding"); lowerASCII([]byte(encoding)) {
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

var voidElements = map[string]bool{ //nolint:gochecknoglobals // a table
	"area": true, "base": true, "basefont": true, "bgsound": true, "br": true, "col": true, "embed": true, "frame": true, "hr": true,
	"img": true, "input": true, "keygen": true, "link": true, "meta": true, "param": true, "source": true, "track": true, "wbr": true,
}

// textIn returns the mode of text in an element of HTML.
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

func (s *htmlScanner) enter(name string) {
	if mode := textIn(name); mode != modeData {
		s.mode, s.element, s.script = mode, name, scriptPlain
	}
}

// ambiguity follows the tags of a document, to refuse one in which a parser that reads it as it
// comes cannot tell text from markup, as the platform does: in a select and in a frameset, a tag
// that text follows may be one to ignore.
type ambiguity struct {
	place     ambiguousPlace
	templates int // that are open within the select
}

type ambiguousPlace uint8

const (
	placeClear ambiguousPlace = iota
	placeSelect
	placeTemplate // within a select
	placeFrameset // or after one
)

func (a *ambiguity) start(name string) error {
	switch a.place {
	case placeClear:
		switch name {
		case "select":
			a.place = placeSelect
		case "frameset":
			a.place = placeFrameset
		}
		return nil
	case placeSelect:
		switch name {
		case "select", "textarea", "input", "keygen": // each ends it
			a.place = placeClear
			return nil
		case "template":
			a.place, a.templates = placeTemplate, 1
			return nil
		case "script":
			return nil
		}
	case placeTemplate:
		if name == "template" {
			a.templates++
		}
	case placeFrameset:
		if name == "noframes" {
			return nil
		}
	}
	if textIn(name) == modeData {
		return nil
	}
	return engine.TypeError(
		"Parser error: The parser has encountered a text content tag (`<%s>`) in the context where it is ambiguous "+
			"whether this tag should be ignored or not: in a select, or with a frameset. It is unclear whether what "+
			"follows is text or markup.",
		name,
	)
}

func (a *ambiguity) end(name string) {
	switch {
	case a.place == placeSelect && name == "select":
		a.place = placeClear
	case a.place == placeTemplate && name == "template":
		if a.templates--; a.templates == 0 {
			a.place = placeSelect
		}
	}
}
