package editor

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
)

// xmlUnit is one step of indentation.
const xmlUnit = "  "

// xmlStep is an element and the attribute that it is known by, if any.
type xmlStep struct{ tag, attr, value string }

// xmlNode is an element of a document and where it is in the text. A nil one has
// no children and no attributes.
type xmlNode struct {
	tag      string
	attrs    map[string]string
	start    int // of its tag
	inner    int // after its tag
	close    int // of its end tag; inner for <a/>
	end      int // after it
	children []*xmlNode
}

func (n *xmlNode) all() []*xmlNode {
	if n == nil {
		return nil
	}
	return n.children
}

// child is the first child like step, nil for none.
func (n *xmlNode) child(step xmlStep) *xmlNode {
	for _, c := range n.all() {
		if c.tag == step.tag && (step.attr == "" || c.attrs[step.attr] == step.value) {
			return c
		}
	}
	return nil
}

// option is the value of an <option name="…" value="…" />, "" for none.
func (n *xmlNode) option(name string) string {
	if option := n.child(xmlStep{"option", "name", name}); option != nil {
		return option.attrs["value"]
	}
	return ""
}

// append returns the document with text as the element's last child.
func (n *xmlNode) append(src []byte, text string) []byte {
	outer := indentation(src, n.start)
	text = indent(text, outer+xmlUnit)
	if n.end > n.inner { // it has an end tag
		return apply(src, []splice{appendChild(src, n.close, outer, text)})
	}
	eol := lineEnd(src)
	slash := n.inner - len("/>")
	slash = len(bytes.TrimRight(src[:slash], blank))
	return apply(src, []splice{{slash, n.inner, ">" + eol + withLineEnd(text, eol) + eol + outer + "</" + n.tag + ">"}})
}

// parseXML reads a document and returns its root element.
func parseXML(src []byte) (*xmlNode, error) {
	dec := xml.NewDecoder(bytes.NewReader(src))
	document := &xmlNode{}
	open := []*xmlNode{document}
	for {
		start := int(dec.InputOffset())
		token, err := dec.Token()
		if errors.Is(err, io.EOF) && len(document.children) > 0 {
			return document.children[0], nil
		}
		if err != nil {
			return nil, xmlSyntaxError(int(dec.InputOffset()), err)
		}
		top := open[len(open)-1]
		switch t := token.(type) {
		case xml.StartElement:
			n := &xmlNode{tag: t.Name.Local, attrs: map[string]string{}, start: start, inner: int(dec.InputOffset())}
			for _, a := range t.Attr {
				n.attrs[a.Name.Local] = a.Value
			}
			top.children = append(top.children, n)
			open = append(open, n)
		case xml.EndElement:
			top.close, top.end = start, int(dec.InputOffset())
			open = open[:len(open)-1]
		}
	}
}

func xmlSyntaxError(offset int, err error) error {
	reason := err.Error()
	if syntax, ok := errors.AsType[*xml.SyntaxError](err); ok {
		reason = syntax.Msg
	}
	if errors.Is(err, io.EOF) {
		reason = "it has no element"
	}
	return syntaxError(offset, "XML", strings.TrimSuffix(reason, "."))
}
