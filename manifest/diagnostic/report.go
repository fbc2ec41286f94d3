package diagnostic

import (
	"encoding/json"
	"io"
	"path"
	"path/filepath"

	"github.com/pages-toolchain/pages/manifest/jsontree"
	"github.com/pages-toolchain/pages/manifest/limits"
	"github.com/pages-toolchain/pages/manifest/sourcetext"
)

const maxReported = 100 // the most diagnostics of a Report; the rest are counted

// Report has the diagnostics of one manifest, ready to be written out.
type Report struct {
	OK bool `json:"ok"` // false when any diagnostic is an error
	// File is the manifest's name from the user, with forward slashes like the names in the diagnostics.
	File        string `json:"file"`
	Diagnostics List   `json:"diagnostics"`       // the first 100 in order of position
	Omitted     int    `json:"omitted,omitempty"` // counts those beyond the first 100

	errors, warnings int
}

// NewReport sorts and counts diagnostics. It keeps a copy of at most 100; the counts are of all. Names of
// files relative to the bundle root become relative to the folder of file.
func NewReport(file string, diags List) Report {
	sorted := append(List{}, diags...)
	sorted.Sort()
	file = filepath.ToSlash(file)
	root := path.Dir(file)
	for i, d := range sorted {
		if d.Line == 0 { // a whole file is reported at its start
			d.Line, d.Column, d.EndLine, d.EndColumn = 1, 1, 1, 1
			sorted[i] = d
		}
		if d.File != "" && !path.IsAbs(d.File) && !filepath.IsAbs(d.File) {
			sorted[i].File = path.Join(root, d.File)
		}
	}
	r := Report{File: file, Diagnostics: sorted}
	r.errors, r.warnings = sorted.count()
	r.OK = r.errors == 0
	if len(sorted) > maxReported {
		r.Diagnostics, r.Omitted = sorted[:maxReported:maxReported], len(sorted)-maxReported
	}
	return r
}

// file is the name of the file a diagnostic is in.
func (r Report) file(d Diagnostic) string {
	if d.File != "" {
		return d.File
	}
	return r.File
}

// Reports is the JSON document of several reports. It is ok when every report is.
type Reports struct {
	OK      bool     `json:"ok"`
	Reports []Report `json:"reports"`
}

// WriteJSON writes one indented JSON document and a newline: a single report itself, otherwise Reports.
func WriteJSON(w io.Writer, reports ...Report) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if len(reports) == 1 {
		return enc.Encode(reports[0])
	}
	all := Reports{OK: true, Reports: append([]Report{}, reports...)}
	for _, r := range reports {
		all.OK = all.OK && r.OK
	}
	return enc.Encode(all)
}

// Locate sets the places of diagnostics about values of the manifest with the text src, unless they have one, and reports
// whether it set any.
func Locate(src []byte, diags List) (placed bool) {
	lines := sourcetext.NewLines(string(src[:min(len(src), limits.MaxManifestBytes)]))
	root, _ := jsontree.Parse(lines.Src)
	for i, found := range diags {
		if found.File != "" || found.Path == "" || found.Line != 0 {
			continue
		}
		if n := root.Resolve(jsontree.Pointer(found.Path)); n != nil {
			diags[i].Line, diags[i].Column = lines.At(n.Start)
			diags[i].EndLine, diags[i].EndColumn = lines.At(n.End)
			placed = true
		}
	}
	return placed
}
