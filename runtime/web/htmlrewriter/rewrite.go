package htmlrewriter

import (
	"bytes"
	"unicode/utf8"

	"github.com/pages-toolchain/pages/runtime/engine"
)

// This file rewrites HTML as it arrives: it keeps a stack of the open elements, stops at each token
// that has a handler, and passes all other text on unchanged. Only an end tag closes the elements
// within its own, since a stream cannot be read twice.

// The events of a step, as in js/htmlrewriter.js.
const (
	eventElement = iota + 1
	eventComment
	eventText
	eventDoctype
	eventEndTag
	eventDocumentEnd
	eventStream
)

// step continues until JavaScript has to act: bytes to pass on, an event as a list, nil
// for more input, false at the end. e holds the edits of the last event's handlers.
func (r *rewriter) step(e edit) (any, error) {
	if finish := r.finish; finish != nil {
		r.finish = nil
		finish(e)
	}
	for {
		if piece := r.piece(false); piece != nil {
			return piece, nil
		}
		if stream := r.stream(); stream != nil {
			return stream, nil
		}
		event, more, err := r.advance()
		if err != nil || event != nil {
			return event, err
		}
		if more {
			continue
		}
		if piece := r.piece(true); piece != nil {
			return piece, nil
		}
		if r.ended {
			return false, nil
		}
		return nil, nil
	}
}

// stream takes the next stream, and the text before it, from the queue.
func (r *rewriter) stream() any {
	for len(r.streams) > 0 {
		next := r.streams[0]
		r.streams = r.streams[1:]
		if next.stream != 0 {
			return []any{eventStream, []any{}, next.stream, next.isHTML}
		}
		r.out.WriteString(next.html)
		if len(r.streams) > 0 && r.out.Len() > 0 {
			return r.piece(true)
		}
	}
	return nil
}

// advance reads one token; more is true if another may follow.
func (r *rewriter) advance() (event []any, more bool, err error) {
	if r.incomplete || r.ended {
		return nil, false, nil
	}
	r.scanner.foreign = r.top().inside != namespaceHTML
	token := r.scanner.next(r.in, r.final)
	if token.kind == markupNone {
		if r.final && len(r.in) == 0 {
			return r.end()
		}
		r.incomplete = !r.final
		if len(r.in) > maxMarkup {
			return nil, false, &engine.Error{Name: "TypeError", Message: "HTMLRewriter: a tag or comment is larger than 16 MiB"}
		}
		return nil, false, nil
	}
	cut := token.kind == markupRaw && r.final && len(token.raw) == len(r.in)
	if (token.kind != markupText && token.kind != markupRaw || cut) && r.textOpen {
		r.textOpen = false
		return r.text(nil, true), true, nil
	}
	switch token.kind {
	case markupText:
		event = r.textToken(&token)
	case markupStart:
		event, err = r.start(&token)
	case markupEnd:
		event = r.endTag(&token)
	case markupComment:
		event = r.comment(&token)
	case markupDoctype:
		event = r.doctype(&token)
	default:
		r.pass(token.raw)
	}
	r.in = r.in[len(token.raw):]
	if len(r.in) == 0 {
		r.in = nil // so that its memory is free
	}
	return event, token.kind != markupText || len(token.raw) > 0, err
}

func (r *rewriter) handlersFor(flag int) []any {
	var list []any
	for _, document := range []bool{false, true} {
		for i := range r.handlers {
			h := &r.handlers[i]
			if h.document == document && h.flags&flag != 0 && (h.document || h.open > 0) {
				list = append(list, i)
			}
		}
	}
	return list
}

// textToken handles a piece of text. A character that is cut in two waits for its other half.
func (r *rewriter) textToken(token *htmlToken) []any {
	whole := len(token.raw)
	for n := 1; n < utf8.UTFMax && n <= len(token.raw) && len(token.raw) == len(r.in) && !r.final; n++ {
		if tail := token.raw[len(token.raw)-n:]; utf8.RuneStart(tail[0]) {
			if !utf8.FullRune(tail) {
				whole -= n
			}
			break
		}
	}
	if whole == 0 {
		r.incomplete = true
		token.raw = nil
		return nil
	}
	token.raw = token.raw[:whole]
	return r.text(token.raw, false)
}

func (r *rewriter) text(raw []byte, last bool) []any {
	handlers := r.handlersFor(forText)
	if handlers == nil {
		r.pass(raw)
		return nil
	}
	r.textOpen = !last
	text := engine.DecodeUTF8(raw)
	r.finish = func(e edit) { r.around(e, []byte(text)) } // ill-formed text too, as on the platform
	return []any{eventText, handlers, text, last}
}

// around writes a token with the contents that its handlers put before, after or in place of it: an
// edit of [before, after, replacement, removed].
func (r *rewriter) around(e edit, raw []byte) {
	r.put(e.contents(0))
	if e.flag(3) {
		r.put(e.contents(2))
	} else {
		r.pass(raw)
	}
	r.put(e.contents(1))
}

func (r *rewriter) comment(token *htmlToken) []any {
	handlers := r.handlersFor(forComments)
	if handlers == nil {
		r.pass(token.raw)
		return nil
	}
	raw := bytes.Clone(token.raw)
	r.finish = func(e edit) {
		if text, ok := e.text(4); ok {
			raw = []byte(markComment + text + "-->")
		}
		r.around(e, raw)
	}
	return []any{eventComment, handlers, engine.DecodeUTF8([]byte(token.text))}
}

func (r *rewriter) doctype(token *htmlToken) []any {
	r.pass(token.raw)
	handlers := r.handlersFor(forDoctype)
	if handlers == nil {
		return nil
	}
	d := parseDoctype(token.raw)
	event := []any{eventDoctype, handlers}
	for _, part := range []*string{d.name, d.public, d.system} {
		if part == nil {
			event = append(event, nil)
		} else {
			event = append(event, *part)
		}
	}
	return event
}

func (r *rewriter) end() (event []any, more bool, err error) {
	if r.textOpen {
		r.textOpen = false
		return r.text(nil, true), true, nil
	}
	r.ended = true
	handlers := r.handlersFor(forEnd)
	if handlers == nil {
		return nil, false, nil
	}
	r.hidden = 0
	r.finish = func(e edit) { r.put(e.contents(0)) }
	return []any{eventDocumentEnd, handlers}, true, nil
}

func (r *rewriter) start(token *htmlToken) ([]any, error) {
	if len(r.stack) > maxOpen {
		return nil, &engine.Error{Name: "TypeError", Message: "HTMLRewriter: more than 65536 elements are open"}
	}
	if err := r.ambiguity.start(token.name); err != nil {
		return nil, err
	}
	element := r.open(token)
	holds := r.enter(token, element)
	var calls []any
	for _, h := range element.handlers {
		if r.handlers[h].flags&forElements != 0 {
			calls = append(calls, h)
		}
	}
	if calls == nil {
		r.pass(token.raw)
		return nil, nil
	}
	tag := htmlToken{name: token.name, raw: bytes.Clone(token.raw), selfClosing: token.selfClosing}
	attributes := make([]any, 0, 2*len(token.attributes))
	for _, a := range token.attributes {
		attributes = append(attributes, engine.DecodeUTF8([]byte(a.name)), engine.DecodeUTF8([]byte(a.value)))
		a.raw = bytes.Clone(a.raw)
		tag.attributes = append(tag.attributes, a)
	}
	r.finish = func(e edit) { r.editStart(e, &tag, holds) }
	return []any{eventElement, calls, token.name, namespaceURIs[element.namespace], attributes, r.hidden > 0, holds}, nil
}

func (r *rewriter) open(token *htmlToken) *openElement {
	parent := r.top()
	space, inside := namespaceOf(token, parent.inside)
	if space == namespaceHTML {
		r.leaveForeign()
	}
	element := &openElement{name: token.name, namespace: space, inside: inside}
	parent.children++
	m := matchable{name: token.name, attributes: token.attributes, isHTML: space == namespaceHTML, child: parent.children}
	if r.selectors.ofType {
		if parent.types == nil {
			parent.types = map[string]int{}
		}
		parent.types[token.name]++
		m.ofType = parent.types[token.name]
	}
	if len(r.selectors.steps) > 0 {
		if parent.marks.here == nil {
			parent.marks = r.selectors.noMarks()
		}
		element.marks, element.handlers = r.selectors.match(&m, parent.marks)
	}
	return element
}

// leaveForeign handles an HTML element in foreign content that does not allow it: the parser closes the foreign elements around it, but
// selectors do not.
func (r *rewriter) leaveForeign() {
	for i := len(r.stack) - 1; i > 0 && r.stack[i].inside != namespaceHTML; i-- {
		r.stack[i].inside = namespaceHTML
	}
}

// enter puts an element on the stack if it can have content, and returns the mode of its text.
func (r *rewriter) enter(token *htmlToken, element *openElement) (holds bool) {
	if element.namespace == namespaceHTML {
		holds = !voidElements[token.name]
		r.scanner.enter(token.name)
	} else {
		holds = !token.selfClosing
	}
	if holds {
		r.stack = append(r.stack, *element)
		for _, h := range element.handlers {
			r.handlers[h].open++
		}
	}
	return holds
}

// endTag closes the innermost element of the name and all within it. The edits of their end tags
// apply to this one, see add.
func (r *rewriter) endTag(token *htmlToken) []any {
	r.ambiguity.end(token.name)
	if token.name == "p" || token.name == "br" {
		r.leaveForeign() // which of all end tags only these do (HTML standard, 13.2.6.5)
	}
	at := len(r.stack) - 1
	for at > 0 && r.stack[at].name != token.name {
		at--
	}
	if at == 0 {
		r.pass(token.raw)
		return nil
	}
	var all endTag
	for i := len(r.stack) - 1; i >= at; i-- {
		element := &r.stack[i]
		for _, h := range element.handlers {
			r.handlers[h].open--
		}
		if element.hides {
			r.hidden--
		}
		all.add(element.atEnd)
	}
	clear(r.stack[at:])
	r.stack = r.stack[:at]
	r.scanner.mode = modeData
	if all.name == "" && len(all.before)+len(all.after)+len(all.callbacks) == 0 && !all.removed {
		r.pass(token.raw)
		return nil
	}
	raw := bytes.Clone(token.raw)
	if all.callbacks == nil {
		r.editEnd(nil, &all, raw)
		return nil
	}
	r.finish = func(e edit) { r.editEnd(e, &all, raw) }
	callbacks := make([]any, 0, len(all.callbacks))
	for _, c := range all.callbacks {
		callbacks = append(callbacks, c)
	}
	name := token.name
	if all.name != "" {
		name = all.name
	}
	return []any{eventEndTag, callbacks, name, all.past}
}
