// Package diagnostic describes faults in the files of a site: severity, stable code ([Rules]), place, message and fix. It
// writes them as text with code frames ([WriteText]), JSON, annotations of GitHub and SARIF. Manifest, bundler and migrations
// report with it.
//
// Input: diagnostics in any order and the text of the manifest. Output: reports, sorted and capped, without keys that were
// pasted into the file. Errors come from the writer. All functions are safe for concurrent use. The package reads no file
// and finds no fault itself.
package diagnostic

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/pages-toolchain/pages/manifest/sourcetext"
)

// Severity ranks a diagnostic.
type Severity string

// An error refuses the manifest, a warning does not.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
)

// Diagnostic is one fault in a file of the site. Its JSON form is part of the command line's contract.
type Diagnostic struct {
	Severity Severity `json:"severity"`
	Code     string   `json:"code"` // stable; [Rules] describes each
	// Path is the JSON Pointer of the value, or of the object for a key; empty for the whole document.
	Path string `json:"path"`
	// File is the file of the position, empty for the manifest: slash separated and relative to the bundle
	// root, or absolute.
	File string `json:"file,omitempty"`
	// Line and Column are 1-based, columns count characters; the end is exclusive.
	Line      int `json:"line"`
	Column    int `json:"column"`
	EndLine   int `json:"end_line"`
	EndColumn int `json:"end_column"`
	// Message is lower case without a full stop; Fix is the change that makes the call pass, empty when unknown.
	Message string `json:"message"`
	Fix     string `json:"fix"`
	// Source is the text of the line, for a code frame of a file other than the manifest. For a long line it may be a part that starts at
	// SourceColumn; 0 means 1.
	Source       string `json:"-"`
	SourceColumn int    `json:"-"`
}

// List is a list of diagnostics. The functions of this package return it sorted.
type List []Diagnostic

// MarshalJSON writes an empty list for a nil one, never null.
func (ds List) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // the outer encoder decides
	err := enc.Encode(append([]Diagnostic{}, ds...))
	return b.Bytes(), err
}

// HasErrors reports whether any diagnostic is an error.
func (ds List) HasErrors() bool {
	return slices.ContainsFunc(ds, func(d Diagnostic) bool { return d.Severity == Error })
}

// Sort orders by file, the manifest first, then by position, errors before warnings, and by code.
func (ds List) Sort() {
	slices.SortFunc(ds, func(a, b Diagnostic) int {
		return cmp.Or(
			cmp.Compare(a.File, b.File),
			cmp.Compare(a.Line, b.Line),
			cmp.Compare(a.Column, b.Column),
			cmp.Compare(a.Severity, b.Severity),
			cmp.Compare(a.Code, b.Code),
			cmp.Compare(a.Path, b.Path),
			cmp.Compare(a.Message, b.Message),
		)
	})
}

// count returns the numbers of errors and warnings.
func (ds List) count() (errors, warnings int) {
	for _, d := range ds {
		if d.Severity == Error {
			errors++
		} else {
			warnings++
		}
	}
	return errors, warnings
}

// FileError is an error about a whole file of the bundle.
func FileError(code, file, fix, format string, args ...any) Diagnostic {
	return Diagnostic{Severity: Error, Code: code, File: file, Fix: fix, Message: fmt.Sprintf(format, args...)}
}

// InFile is a diagnostic about a span of a file other than the manifest. The pointer is for the reader only.
func InFile(file string, where *sourcetext.Lines, s Severity, code, p string, at sourcetext.Span, msg, fix string) Diagnostic {
	line, column := where.At(at.Start)
	endLine, endColumn := where.At(at.End)
	return Diagnostic{
		Severity: s, Code: code, Path: p, File: file,
		Line: line, Column: column, EndLine: endLine, EndColumn: endColumn, Message: msg, Fix: fix, Source: where.Text(line),
	}
}
