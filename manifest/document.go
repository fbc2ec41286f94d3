package manifest

// document is a manifest on its way through the rules: the parsed file and what was found wrong with it.
type document struct {
	lines       *lines
	root        *node
	diagnostics Diagnostics
	refused     map[pointer]bool // where an error stands already
}

func newDocument(src string) *document {
	return &document{lines: newLines(src), refused: map[pointer]bool{}}
}

// add records a diagnostic at a place in the manifest.
func (d *document) add(s Severity, code string, p pointer, at span, msg, fix string) {
	line, column := d.lines.at(at.start)
	endLine, endColumn := d.lines.at(at.end)
	if s == Error {
		d.refused[p] = true
	}
	d.diagnostics = append(d.diagnostics, Diagnostic{
		Severity: s, Code: code, Path: string(p),
		Line: line, Column: column, EndLine: endLine, EndColumn: endColumn,
		Message: msg, Fix: fix,
	})
}

// addIn records a diagnostic at a place in another file of the bundle. The pointer is for the reader only.
func (d *document) addIn(file string, where *lines, s Severity, code string, p pointer, at span, msg, fix string) {
	d.diagnostics = append(d.diagnostics, inFile(file, where, s, code, string(p), at, msg, fix))
}

// refuseFile records an error about another file as a whole, which its start stands for.
func (d *document) refuseFile(fault Diagnostic) {
	fault.Line, fault.Column, fault.EndLine, fault.EndColumn = 1, 1, 1, 1
	d.diagnostics = append(d.diagnostics, fault)
}

// refuse records an error at the value p points at.
func (d *document) refuse(code string, p pointer, msg, fix string) {
	d.add(Error, code, p, d.at(p), msg, fix)
}

// warn records a warning at the value p points at.
func (d *document) warn(code string, p pointer, msg, fix string) {
	d.add(Warning, code, p, d.at(p), msg, fix)
}

// at is where the value p points at stands; the start of the file when there is none.
func (d *document) at(p pointer) span {
	if n := d.root.resolve(p); n != nil {
		return n.span
	}
	return span{}
}

// str returns the string p points at, and false when it is none or refused already.
func (d *document) str(p pointer) (string, bool) {
	n := d.root.resolve(p)
	if n == nil || n.kind != stringNode || d.refused[p] {
		return "", false
	}
	return n.text, true
}

// strings returns the strings of the array p points at with their pointers, without those refused already.
func (d *document) strings(p pointer) []located {
	var list []located
	for i := range d.root.resolve(p).list() {
		at := p.index(i)
		if s, ok := d.str(at); ok {
			list = append(list, located{at, s})
		}
	}
	return list
}

// located is a string of the manifest and where it stands.
type located struct {
	at   pointer
	text string
}

// objects returns the pointers of the objects in the array p points at.
func (d *document) objects(p pointer) []pointer {
	var list []pointer
	for i, n := range d.root.resolve(p).list() {
		if n.kind == objectNode {
			list = append(list, p.index(i))
		}
	}
	return list
}

// has reports whether the manifest has a value at p.
func (d *document) has(p pointer) bool { return d.root.resolve(p) != nil }
