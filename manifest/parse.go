package manifest

import (
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/pages-toolchain/pages/manifest/diagnostic"
	"github.com/pages-toolchain/pages/manifest/jsontree"
	"github.com/pages-toolchain/pages/manifest/limits"
	"github.com/pages-toolchain/pages/manifest/sitepath"
	"github.com/pages-toolchain/pages/manifest/sourcetext"
)

// Parse reads a manifest from its bytes alone: syntax, types, lengths and every rule that needs no other
// file. Messages call the file by name. The manifest is nil when any diagnostic is an error.
func Parse(name string, src []byte) (*Manifest, diagnostic.List) {
	return ParseDocument(name, src).Finish()
}

// Validate checks a manifest that was built in memory, as if it had been written to a file and read back.
func Validate(m *Manifest) diagnostic.List {
	src, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return diagnostic.List{{
			Severity: diagnostic.Error, Code: diagnostic.CodeInvalid, Message: err.Error(),
			Line: 1, Column: 1, EndLine: 1, EndColumn: 1,
		}}
	}
	_, diags := Parse(FileName, src)
	return diags
}

// ParseDocument runs every rule that looks at the manifest alone.
func ParseDocument(name string, src []byte) *Document {
	if len(src) > limits.MaxManifestBytes {
		d := NewDocument("")
		d.Add(diagnostic.Error, diagnostic.CodeFileTooLarge, "", sourcetext.Span{},
			fmt.Sprintf("%s is longer than the limit of %d bytes", sourcetext.Quote(name), limits.MaxManifestBytes),
			"keep only names and paths in it, and move other data out")
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
	d.checkDuplicateKeys("", root)
	d.checkSchema()
	if root.Kind == jsontree.ObjectNode { // the rules that the schema cannot express, or not well
		d.checkPaths()
		d.checkPatterns()
		d.checkStaticRoutes()
		d.checkRoutes()
		d.checkRuntime()
		d.checkEnvironment()
		d.checkForms()
	}
	return d
}

// Finish sorts the diagnostics, hides secrets in them, and returns the manifest, nil when any of them is an error.
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

// decode turns an accepted document into a Manifest with every default filled in.
func decode(root *jsontree.Node) *Manifest {
	m := &Manifest{
		Entry:  sitepath.CleanPath(root.Get("entry").Str()),
		Assets: sitepath.CleanPath(root.Get("assets").Str()),
		Runtime: Runtime{
			CompatibilityFlags: decodeStrings(root.Path("runtime", "compatibilityFlags")),
			CompatibilityDate:  root.Path("runtime", "compatibilityDate").Str(),
		},
	}
	for _, r := range root.Get("routes").List() {
		access := cmp.Or(Access(r.Get("access").Str()), Public)
		m.Routes = append(m.Routes, Route{Pattern: r.Get("pattern").Str(), Access: access})
	}
	for _, f := range root.Get("forms").List() {
		m.Forms = append(m.Forms, Form{Name: f.Get("name").Str(), Event: f.Get("event").Str()})
	}
	for _, l := range limits.All() {
		l.Set(&m.Limits, l.Default)
		if i, ok := root.Path("limits", l.Key).Integer(); ok {
			l.Set(&m.Limits, int(i))
		}
	}
	bindings := root.Get("bindings")
	m.Bindings = Bindings{
		ProjectDatabase: cmp.Or(ProjectAccess(bindings.Get("projectDatabase").Str()), ProjectNone),
		Secrets:         decodeStrings(bindings.Get("secrets")),
		Submissions:     bindings.Get("submissions").Str(),
	}
	if images := bindings.Get("images"); images != nil {
		m.Bindings.Images = images.Text == "true"
	}
	if db := bindings.Get("database"); db != nil {
		m.Bindings.Database = &Database{
			Migrations: sitepath.CleanPath(db.Get("migrations").Str()),
			Tables:     decodeStrings(db.Get("tables")),
		}
	}
	if s := bindings.Get("storage"); s != nil {
		m.Bindings.Storage = &Storage{Name: cmp.Or(s.Get("name").Str(), DefaultStorageName)}
	}
	if kv := bindings.Get("kv"); kv != nil {
		m.Bindings.KV = &KV{Name: cmp.Or(kv.Get("name").Str(), DefaultKVName)}
	}
	return m
}

func decodeStrings(n *jsontree.Node) []string {
	var list []string
	for _, item := range n.List() {
		list = append(list, item.Str())
	}
	return list
}
