package manifest

import (
	"encoding/json"
	"fmt"

	"github.com/pages-toolchain/pages/manifest/diagnostic"
	"github.com/pages-toolchain/pages/manifest/jsontree"
	"github.com/pages-toolchain/pages/manifest/limits"
	"github.com/pages-toolchain/pages/manifest/sourcetext"
)

// Parse reads a manifest from its bytes alone: syntax, types, lengths and every rule that needs no other
// file. The name is what messages call the file. The manifest is nil when any diagnostic is an error.
func Parse(name string, src []byte) (*Manifest, diagnostic.List) {
	d := ParseDocument(name, src)
	return d.Finish()
}

// Validate checks a manifest that was built in memory, as if it had been written to a file and read back.
func Validate(m *Manifest) diagnostic.List {
	src, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return diagnostic.List{{Severity: diagnostic.Error, Code: diagnostic.CodeInvalid, Line: 1, Column: 1, EndLine: 1, EndColumn: 1, Message: err.Error()}}
	}
	_, diags := Parse(FileName, src)
	return diags
}

// ParseDocument runs every rule that looks at the manifest alone.
func ParseDocument(name string, src []byte) *Document {
	if len(src) > limits.MaxManifestBytes {
		d := NewDocument("")
		msg := fmt.Sprintf("%s is longer than the limit of %d bytes", sourcetext.Quote(name), limits.MaxManifestBytes)
		d.Add(diagnostic.Error, diagnostic.CodeFileTooLarge, "", sourcetext.Span{}, msg, "a manifest holds names and paths only; move other data out of it")
		return d
	}
	d := NewDocument(string(src))
	root, faults := jsontree.Parse(d.lines.Src)
	d.Root = root
	for _, f := range faults {
		d.Add(diagnostic.Error, diagnostic.CodeSyntax, "", f.Span, f.Msg, f.Fix)
	}
	if root == nil {
		return d
	}
	d.duplicates("", root)
	d.checkSchema()
	if root.Kind == jsontree.ObjectNode {
		d.checkRules()
	}
	return d
}

// checkRules applies the rules that the schema cannot say, or cannot say well.
func (d *Document) checkRules() {
	d.checkPaths()
	d.checkPatterns()
	d.checkStaticRoutes()
	d.checkRoutes()
	d.checkRuntime()
	d.checkEnvironment()
	d.checkForms()
}

// Finish decodes what was accepted.
func (d *Document) Finish() (*Manifest, diagnostic.List) {
	d.Diagnostics.Sort()
	if len(d.Diagnostics) > 0 {
		diagnostic.NewMasks(d.lines).Redact(d.Diagnostics)
	}
	if d.Diagnostics.HasErrors() {
		return nil, d.Diagnostics
	}
	return decode(d.Root), d.Diagnostics
}
