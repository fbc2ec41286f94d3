package editor

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/pages-toolchain/pages/manifest"
)

const jetbrainsSchema = ".idea/pages.schema.json"

// jetbrainsEntry is the IDEs' own form of a mapping of a file name in any folder, under "JSON Schema Mappings".
const jetbrainsEntry = `<entry key="` + manifest.FileName + `">
  <value>
    <SchemaInfo>
      <option name="name" value="` + manifest.FileName + `" />
      <option name="relativePathToSchema" value="` + jetbrainsSchema + `" />
      <option name="schemaVersion" value="JSON Schema version 7" />
      <option name="patterns">
        <list>
          <Item>
            <option name="pattern" value="true" />
            <option name="path" value="` + manifest.FileName + `" />
            <option name="mappingKind" value="Pattern" />
          </Item>
        </list>
      </option>
    </SchemaInfo>
  </value>
</entry>`

// editJetBrains edits .idea/jsonSchemas.xml.
func editJetBrains(src []byte) ([]byte, error) {
	path := []xmlStep{ // to the entries, from the root
		{"project", "version", "4"},
		{"component", "name", "JsonSchemaMappingsProjectConfiguration"},
		{tag: "state"},
		{tag: "map"},
	}
	if len(bytes.TrimSpace(src)) == 0 {
		// The IDEs end their files without a line end.
		return []byte(`<?xml version="1.0" encoding="UTF-8"?>` + "\n" + wrapEntry(path)), nil
	}
	root, err := parseXML(src)
	if err != nil {
		return nil, err
	}
	if root.tag != path[0].tag {
		return nil, &SettingsError{
			Offset: root.start, Code: CodeShape, Msg: fmt.Sprintf("the file holds a <%s> where the editor takes a <project>", root.tag),
			Fix: "remove the file, then run this again; nothing was written",
		}
	}
	at := root
	for i, step := range path[1:] {
		next := at.child(step)
		if next == nil {
			return at.append(src, wrapEntry(path[i+1:])), nil
		}
		at = next
	}
	for _, entry := range at.children {
		info := entry.child(xmlStep{tag: "value"}).child(xmlStep{tag: "SchemaInfo"})
		mapped := slices.ContainsFunc(info.child(xmlStep{"option", "name", "patterns"}).child(xmlStep{tag: "list"}).all(),
			func(item *xmlNode) bool {
				pattern := item.option("mappingKind") == "Pattern" || item.option("pattern") == "true"
				return pattern && isManifestPattern(item.option("path"))
			})
		url := info.option("relativePathToSchema")
		switch {
		case mapped && url == jetbrainsSchema:
			return src, nil
		case err != nil:
		case mapped || entry.attrs["key"] == manifest.FileName:
			err = takenError(entry.start, url, jetbrainsSchema)
		}
	}
	if err != nil {
		return src, err
	}
	return at.append(src, jetbrainsEntry), nil
}

// wrapEntry returns the entry in the missing elements around it.
func wrapEntry(steps []xmlStep) string {
	text := jetbrainsEntry
	for _, step := range slices.Backward(steps) {
		open := step.tag
		if step.attr != "" {
			open += fmt.Sprintf(" %s=%q", step.attr, step.value)
		}
		text = "<" + open + ">\n" + indent(text, xmlUnit) + "\n</" + step.tag + ">"
	}
	return text
}

const xmlUnit = "  " // one step of indentation

// xmlStep is an element and its identifying attribute, if any.
type xmlStep struct{ tag, attr, value string }

// xmlNode is an element of a document and its place in the text. A nil one has no children and no attributes.
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

// child returns the first child like step, nil for none.
func (n *xmlNode) child(step xmlStep) *xmlNode {
	for _, c := range n.all() {
		if c.tag == step.tag && (step.attr == "" || c.attrs[step.attr] == step.value) {
			return c
		}
	}
	return nil
}

// option returns the value of an <option name="…" value="…" />, "" for none.
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
			reason := err.Error()
			if syntax, ok := errors.AsType[*xml.SyntaxError](err); ok {
				reason = syntax.Msg
			}
			if errors.Is(err, io.EOF) {
				reason = "it has no element"
			}
			return nil, syntaxError(int(dec.InputOffset()), "XML", strings.TrimSuffix(reason, "."))
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
