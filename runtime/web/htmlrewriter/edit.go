package htmlrewriter

import (
	"bytes"
	"strings"
)

// editStart writes a start tag as its handlers want it: an edit of [before, after, replacement,
// removed, name, attributes, append, after the end tag, the end tag removed, the content removed,
// callback of the end tag].
func (r *rewriter) editStart(e edit, tag *htmlToken, holds bool) {
	r.put(e.contents(0))
	name, renamed := e.text(4)
	attributes, changed := e.list(5)
	if holds && (e.flag(9) || len(e.contents(1))+len(e.contents(6)) > 0) {
		tag.selfClosing = false // it has content
	}
	switch {
	case e.flag(3):
		r.put(e.contents(2))
	case renamed || changed:
		r.pass(serializeTag(tag, name, attributes, changed))
	default:
		r.pass(tag.raw)
	}
	r.put(e.contents(1))
	if !holds {
		return
	}
	top := r.top()
	top.atEnd = endTag{name: name, before: e.contents(6), after: e.contents(7), removed: e.flag(8)}
	top.atEnd.changed = e.at(6) != nil || e.at(7) != nil || e.flag(8)
	if callback, _ := e.at(10).(float64); callback != 0 {
		top.atEnd.callbacks = []int64{int64(callback)}
	}
	if e.flag(9) {
		top.hides = true
		r.hidden++
	}
}

// serializeTag writes a start tag again. attributes repeats name, value and index into the tag's own attributes. An unchanged attribute
// keeps its text; one with a new value, whose index i is written as -2-i, keeps its name.
func serializeTag(tag *htmlToken, name string, attributes []any, changed bool) []byte {
	var b bytes.Buffer
	b.WriteByte('<')
	if name == "" {
		b.Write(tag.raw[1 : 1+len(tag.name)])
	} else {
		b.WriteString(name)
	}
	bare := b.Len()
	if !changed {
		for _, a := range tag.attributes {
			b.WriteByte(' ')
			b.Write(a.raw)
		}
	}
	const fields = 3
	for i := 0; i+fields <= len(attributes); i += fields {
		b.WriteByte(' ')
		at, _ := attributes[i+2].(float64)
		index := int(at)
		if 0 <= index && index < len(tag.attributes) {
			b.Write(tag.attributes[index].raw)
			continue
		}
		key, _ := attributes[i].(string)
		if own := -2 - index; 0 <= own && own < len(tag.attributes) {
			key = string(tag.attributes[own].raw[:len(tag.attributes[own].name)])
		}
		value, _ := attributes[i+1].(string)
		b.WriteString(key + `="` + strings.ReplaceAll(value, `"`, "&quot;") + `"`)
	}
	if tag.selfClosing {
		if b.Len() > bare {
			b.WriteByte(' ')
		}
		b.WriteByte('/')
	}
	b.WriteByte('>')
	return b.Bytes()
}

// editEnd writes an end tag: an edit of [before, after, (none), removed, name].
func (r *rewriter) editEnd(e edit, all *endTag, raw []byte) {
	r.put(all.before)
	r.put(e.contents(0))
	name, renamed := e.text(4)
	if !renamed {
		name = all.name
	}
	switch {
	case all.removed || e.flag(3):
	case name != "":
		r.pass([]byte("</" + name + ">"))
	default:
		r.pass(raw)
	}
	r.put(e.contents(1))
	r.put(all.after)
}

// edit is the list of changes that handlers made; a missing item means no change.
type edit []any

func (e edit) at(i int) any {
	if i >= len(e) {
		return nil
	}
	return e[i]
}

func (e edit) flag(i int) bool {
	set, _ := e.at(i).(bool)
	return set
}

func (e edit) text(i int) (string, bool) {
	text, ok := e.at(i).(string)
	return text, ok
}

func (e edit) list(i int) ([]any, bool) {
	list, ok := e.at(i).([]any)
	return list, ok
}

// contents is the list of (value, whether it is HTML) at i; a number is a stream's.
func (e edit) contents(i int) []content {
	list, _ := e.list(i)
	out := make([]content, 0, len(list)/2)
	for at := 0; at+1 < len(list); at += 2 {
		isHTML, _ := list[at+1].(bool)
		switch value := list[at].(type) {
		case float64:
			out = append(out, content{stream: int64(value), isHTML: isHTML})
		case string:
			if !isHTML {
				value = escapeHTML(value)
			}
			out = append(out, content{html: value})
		}
	}
	return out
}

func escapeHTML(text string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(text)
}
