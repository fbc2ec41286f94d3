package htmlrewriter

import "bytes"

// The platform's own bounds are not shown.
const (
	// maxMarkup is the maximum number of bytes that one tag or comment may have.
	maxMarkup = 16 << 20
	// maxOpen is the limit of open elements.
	maxOpen = 1 << 16
	// htmlPiece is the approximate size of a chunk of output, in bytes.
	htmlPiece = 64 << 10
)

// Kinds of handlers, as the flags of js/htmlrewriter.js.
const (
	forElements = 1 << iota
	forComments
	forText
	forDoctype
	forEnd
)

// contentHandler is a registered handler of an element, or of the document.
type contentHandler struct {
	flags    int
	document bool
	open     int // elements that are open and match
}

// content is a part of the output: plain text, or the number of a stream in JavaScript.
type content struct {
	html   string
	stream int64 // 0 is none
	isHTML bool  // of the stream
}

type openElement struct {
	name      string
	namespace namespace
	inside    namespace // of its children
	marks     marks
	handlers  []int
	children  int
	types     map[string]int
	hides     bool // its content is left out
	atEnd     endTag
}

type endTag struct {
	name          string // "" keeps the old one
	before, after []content
	removed       bool
	changed       bool // by one of the three
	callbacks     []int64
	past          int // how many callbacks were before the change, which undoes theirs
}

// add adds the edits of the next element outward for the same end tag. As on the platform, its
// contents and removal replace those within.
func (e *endTag) add(outer endTag) {
	if outer.name != "" {
		e.name = outer.name
	}
	if outer.changed {
		e.before, e.after, e.removed = outer.before, outer.after, outer.removed
		e.changed, e.past = true, len(e.callbacks)
	}
	e.callbacks = append(e.callbacks, outer.callbacks...)
}

// rewriter rewrites one document. It is not safe for concurrent use.
type rewriter struct {
	scanner   htmlScanner
	ambiguity ambiguity
	selectors selectorSet
	handlers  []contentHandler
	stack     []openElement // the first is the document
	hidden    int           // elements open whose content is left out

	in         []byte // not yet read
	final      bool
	incomplete bool // in is not a whole token yet
	out        bytes.Buffer
	streams    []content // written by JavaScript after out
	textOpen   bool      // a handler has a part of the text
	ended      bool
	finish     func(edit)      // applies the handlers' edit
	coding     *documentCoding // nil for UTF-8
}

func newRewriter() *rewriter { return &rewriter{stack: []openElement{{}}} }

func (r *rewriter) write(b []byte) {
	if r.incomplete && opensMarkup(r.in) && bytes.IndexByte(b, '>') < 0 && len(r.in)+len(b) <= maxMarkup && r.scanner.mode == modeData {
		r.in = append(r.in, b...) // no token ends here: no need to look again
		return
	}
	r.incomplete = false
	r.in = append(r.in, b...)
}

// piece takes the output when there is enough of it, or a stream to follow.
func (r *rewriter) piece(all bool) []byte {
	if n := r.out.Len(); n == 0 || n < htmlPiece && !all && len(r.streams) == 0 {
		return nil
	}
	piece := bytes.Clone(r.out.Bytes())
	r.out.Reset()
	return piece
}

func (r *rewriter) top() *openElement { return &r.stack[len(r.stack)-1] }

func (r *rewriter) pass(raw []byte) {
	if r.hidden > 0 {
		return
	}
	if len(r.streams) > 0 {
		r.streams = append(r.streams, content{html: string(raw)})
		return
	}
	r.out.Write(raw)
}

func (r *rewriter) put(all []content) {
	for _, c := range all {
		switch {
		case r.hidden > 0:
		case c.stream != 0:
			r.streams = append(r.streams, c)
		default:
			r.pass([]byte(c.html))
		}
	}
}
