package manifest

import (
	"github.com/pages-toolchain/pages/manifest/diagnostic"
	"github.com/pages-toolchain/pages/manifest/jsontree"
	"github.com/pages-toolchain/pages/manifest/sourcetext"
)

// Document is a manifest while the rules are checked: the parsed file and its diagnostics so far.
type Document struct {
	lines       *sourcetext.Lines
	Root        *jsontree.Node
	Diagnostics diagnostic.List
	refused     map[jsontree.Pointer]bool // pointers that have an error
}

// NewDocument returns the document of a text, not parsed yet.
func NewDocument(src string) *Document {
	return &Document{lines: sourcetext.NewLines(src), refused: map[jsontree.Pointer]bool{}}
}

// Add records a diagnostic at a place in the manifest.
func (d *Document) Add(s diagnostic.Severity, code string, p jsontree.Pointer, at sourcetext.Span, msg, fix string) {
	line, column := d.lines.At(at.Start)
	endLine, endColumn := d.lines.At(at.End)
	if s == diagnostic.Error {
		d.refused[p] = true
	}
	d.Diagnostics = append(d.Diagnostics, diagnostic.Diagnostic{
		Severity: s, Code: code, Path: string(p),
		Line: line, Column: column, EndLine: endLine, EndColumn: endColumn, Message: msg, Fix: fix,
	})
}

// RefuseFile records an error about another file as a whole, placed at its start.
func (d *Document) RefuseFile(fault diagnostic.Diagnostic) {
	fault.Line, fault.Column, fault.EndLine, fault.EndColumn = 1, 1, 1, 1
	d.Diagnostics = append(d.Diagnostics, fault)
}

// Refuse records an error at the value p points at.
func (d *Document) Refuse(code string, p jsontree.Pointer, msg, fix string) {
	d.Add(diagnostic.Error, code, p, d.at(p), msg, fix)
}

// Warn records a warning at the value p points at.
func (d *Document) Warn(code string, p jsontree.Pointer, msg, fix string) {
	d.Add(diagnostic.Warning, code, p, d.at(p), msg, fix)
}

// at returns the span of the value p points at; the start of the file when there is none.
func (d *Document) at(p jsontree.Pointer) sourcetext.Span {
	if n := d.Root.Resolve(p); n != nil {
		return n.Span
	}
	return sourcetext.Span{}
}

// Str returns the string p points at, and false for another type or a value with an error.
func (d *Document) Str(p jsontree.Pointer) (string, bool) {
	n := d.Root.Resolve(p)
	if n == nil || n.Kind != jsontree.StringNode || d.refused[p] {
		return "", false
	}
	return n.Text, true
}

// Strings returns the strings of the array p points at with their pointers, without those that have an error.
func (d *Document) Strings(p jsontree.Pointer) []Located {
	var list []Located
	for i := range d.Root.Resolve(p).List() {
		at := p.Index(i)
		if s, ok := d.Str(at); ok {
			list = append(list, Located{at, s})
		}
	}
	return list
}

// Located is a string of the manifest with its pointer.
type Located struct {
	At   jsontree.Pointer
	Text string
}

// Objects returns the pointers of the objects in the array p points at.
func (d *Document) Objects(p jsontree.Pointer) []jsontree.Pointer {
	var list []jsontree.Pointer
	for i, n := range d.Root.Resolve(p).List() {
		if n.Kind == jsontree.ObjectNode {
			list = append(list, p.Index(i))
		}
	}
	return list
}

// Has reports whether the manifest has a value at p.
func (d *Document) Has(p jsontree.Pointer) bool { return d.Root.Resolve(p) != nil }
