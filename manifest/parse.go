package manifest

import (
	"encoding/json"
	"fmt"

	"github.com/pages-toolchain/pages/manifest/limits"
)

// Parse reads a manifest from its bytes alone: syntax, types, lengths and every rule that needs no other
// file. The name is what messages call the file. The manifest is nil when any diagnostic is an error.
func Parse(name string, src []byte) (*Manifest, Diagnostics) {
	d := parseDocument(name, src)
	return d.finish()
}

// Validate checks a manifest that was built in memory, as if it had been written to a file and read back.
func Validate(m *Manifest) Diagnostics {
	src, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return Diagnostics{{Severity: Error, Code: codeInvalid, Line: 1, Column: 1, EndLine: 1, EndColumn: 1, Message: err.Error()}}
	}
	_, diags := Parse(FileName, src)
	return diags
}

// parse runs every rule that looks at the manifest alone.
func parseDocument(name string, src []byte) *document {
	if len(src) > limits.MaxManifestBytes {
		d := newDocument("")
		msg := fmt.Sprintf("%s is longer than the limit of %d bytes", quote(name), limits.MaxManifestBytes)
		d.add(Error, codeFileTooLarge, "", span{}, msg, "a manifest holds names and paths only; move other data out of it")
		return d
	}
	d := newDocument(string(src))
	root, faults := parseJSON(d.lines.src)
	d.root = root
	for _, f := range faults {
		d.add(Error, codeSyntax, "", f.span, f.msg, f.fix)
	}
	if root == nil {
		return d
	}
	d.duplicates("", root)
	d.checkSchema()
	if root.kind == objectNode {
		d.checkRules()
	}
	return d
}

// checkRules applies the rules that the schema cannot say, or cannot say well.
func (d *document) checkRules() {
	d.checkPaths()
	d.checkPatterns()
	d.checkStaticRoutes()
	d.checkRoutes()
	d.checkRuntime()
	d.checkEnvironment()
	d.checkForms()
}

// finish decodes what was accepted.
func (d *document) finish() (*Manifest, Diagnostics) {
	d.diagnostics.Sort()
	if len(d.diagnostics) > 0 {
		newMasks(d.lines).redact(d.diagnostics)
	}
	if d.diagnostics.HasErrors() {
		return nil, d.diagnostics
	}
	return decode(d.root), d.diagnostics
}
