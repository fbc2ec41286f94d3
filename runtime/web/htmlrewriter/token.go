package htmlrewriter

// markupKind is a kind of token of HTML.
type markupKind uint8

const (
	markupNone    markupKind = iota // more input is needed
	markupText                      // text; more of it may follow
	markupStart                     // a start tag
	markupEnd                       // an end tag
	markupComment                   // a comment, bogus ones included
	markupDoctype
	markupRaw // bytes that stand for nothing: </>, the marks of a CDATA section, a tag that is cut off
)

// htmlAttribute is an attribute; name is in lower case, value as it was written.
// raw is nil for one that did not come from the document.
type htmlAttribute struct {
	name, value string
	raw         []byte
}

// htmlToken is a token; raw is valid until more input comes.
type htmlToken struct {
	kind        markupKind
	raw         []byte
	name        string // of a tag, in lower case
	attributes  []htmlAttribute
	selfClosing bool
	text        string // of a comment
}

const htmlSpace = "\t\n\f\r "

const (
	markComment = "<!--"
	markDoctype = "<!doctype"
	markCDATA   = "<![CDATA["
)
