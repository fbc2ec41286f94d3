package bundler

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-sourcemap/sourcemap"

	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/diagnostic"
	"github.com/pages-toolchain/pages/manifest/secretscan"
)

// This file refuses a build that contains the value of a secret, written by the author or a build tool. No message contains the value.

// Bounds on the unpacked bytes that are searched: for each packed file, and for one build.
const (
	maxUnpackedFile = 64 << 20
	maxUnpacked     = 1 << 30
)

// leaked has the findings in a public file.
type leaked struct {
	found  []secretscan.Finding
	packed bool // the places are in the unpacked file
	cut    bool // the unpacked file exceeds the bounds
}

// leaks finds secrets in a build.
type leaks struct {
	set   *secretscan.Set
	dir   string
	root  *os.Root
	found diagnostic.List
}

// all reports the secrets in everything that is published or run.
func (l *leaks) all(m *manifest.Manifest, code compiled, files assetWalk, migrations []Migration) diagnostic.List {
	if code.worker != nil {
		l.worker(m.Entry, code.worker)
	}
	for _, sql := range migrations {
		l.text(path.Join(m.Bindings.Database.Migrations, sql.Name), sql.SQL, "this migration")
	}
	isCode := sourcesAmong(m, code.inputs)
	var cut tally
	for _, c := range files.files {
		if isCode(c.file) {
			continue
		}
		cut.addIf(c.leaked.cut, c.file)
		switch {
		case len(c.leaked.found) == 0:
		case c.leaked.packed:
			l.report(c.file, nil, c.leaked.found, "this compressed public file")
		default:
			l.report(c.file, l.readBeginning(c.file, c.leaked.found), c.leaked.found, "this public file")
		}
	}
	return append(l.found, cut.warn("secret-unsearched", "publish it uncompressed: the platform compresses responses",
		"%s too long, decompressed, to search all of it for secrets")...)
}

// worker searches the author's sources, which the source map has, then the compiled code.
func (l *leaks) worker(entry string, w *Worker) {
	for _, module := range w.Modules {
		l.text(module.file, module.Bytes, "this module of the Worker")
	}
	if len(w.Map) == 0 { // the Worker is unchanged
		l.text(entry, w.Code, "the Worker")
		return
	}
	var sources struct {
		Sources        []string
		SourcesContent []string
	}
	_ = json.Unmarshal(w.Map, &sources) // esbuild wrote it; on failure only the code is searched
	reported := map[string]bool{}
	for i, text := range sources.SourcesContent {
		for _, f := range l.text(sources.Sources[i], []byte(text), "this file of the Worker") {
			reported[f.Name] = true
		}
	}
	// A secret that esbuild joined from parts is in no source.
	joined := slices.DeleteFunc(l.set.Find(w.Code), func(f secretscan.Finding) bool { return reported[f.Name] })
	var places *sourcemap.Consumer
	if len(joined) > 0 {
		places, _ = sourcemap.Parse("", w.Map) // nil when that fails
	}
	for _, f := range bySecret(joined) {
		file, line, column := entry, 1, 1
		if places != nil {
			before := w.Code[:f.first.Start]
			units := utf16.Encode([]rune(string(before[bytes.LastIndexByte(before, '\n')+1:]))) // the unit of source maps
			if source, _, at, col, ok := places.Source(bytes.Count(before, []byte("\n"))+1, len(units)); ok {
				file, line, column = source, at, col+1
			}
		}
		d := l.diagnostic(file, f, "the built Worker")
		d.Line, d.EndLine, d.Column, d.EndColumn = line, line, column, column
		if i := slices.Index(sources.Sources, file); i >= 0 && i < len(sources.SourcesContent) {
			d.Source = l.set.Star(nthLine(sources.SourcesContent[i], line))
		}
		l.found = append(l.found, d)
	}
}

func nthLine(text string, number int) string {
	for line := range strings.Lines(text) {
		if number--; number == 0 {
			return strings.TrimRight(line, "\r\n")
		}
	}
	return ""
}

// text searches the text of a file.
func (l *leaks) text(file string, text []byte, what string) []secretscan.Finding {
	found := l.set.Find(text)
	l.report(file, text, found, what)
	return found
}

// readBeginning reads a public file up to the last finding and the end of its line, so that another secret on the line is masked
// completely.
func (l *leaks) readBeginning(file string, found []secretscan.Finding) []byte {
	f, err := openNonBlocking(l.root, filepath.FromSlash(file))
	if err != nil {
		return nil // the report then lacks the line
	}
	defer f.Close()
	length := found[len(found)-1].End + utf8.UTFMax*maxSourceLine + int64(l.set.Longest())
	text, _ := io.ReadAll(io.LimitReader(f, length)) // up to an error
	return text
}

// secretFindings are the findings of one secret in one file.
type secretFindings struct {
	first secretscan.Finding
	more  int
}

// bySecret groups the findings by secret, a strong one before a weak one.
func bySecret(found []secretscan.Finding) (list []secretFindings) {
	for _, f := range found {
		i := slices.IndexFunc(list, func(s secretFindings) bool { return s.first.Name == f.Name })
		switch {
		case i < 0:
			list = append(list, secretFindings{first: f})
		case list[i].first.Weak && !f.Weak:
			list[i] = secretFindings{f, list[i].more + 1}
		default:
			list[i].more++
		}
	}
	return list
}

// report reports each secret in a file once, at its first place, or without a place if the text is missing.
func (l *leaks) report(file string, text []byte, found []secretscan.Finding, what string) {
	for _, f := range bySecret(found) {
		d := l.diagnostic(file, f, what)
		l.place(&d, text, f.first)
		l.found = append(l.found, d)
	}
}

func (l *leaks) diagnostic(file string, f secretFindings, what string) diagnostic.Diagnostic {
	name := f.first.Name
	d := problem("secret-in-output", file, "", "%s holds %s", what, f.first.What())
	if f.more > 0 {
		d.Message += fmt.Sprintf(", here and %d more times", f.more)
		if f.more == 1 {
			d.Message = strings.TrimSuffix(d.Message, "1 more times") + "once more"
		}
	}
	if f.first.Weak {
		d.Severity = diagnostic.Warning
		d.Message += ", maybe by chance: the value is short or common"
		d.Fix = "give " + name + " a long random value; if it is not a secret, remove it from bindings.secrets"
		return d
	}
	d.Fix = "remove it, and read env." + name +
		" in the Worker; a build tool may have put it here, for import.meta.env or process.env; " +
		"create a new secret if this one was published; if it is not a secret, remove " + name + " from bindings.secrets"
	return d
}

const maxSourceLine = 512 // the number of characters kept before and after a place

// place sets the place of a finding in a text; of a binary file only the offset.
func (l *leaks) place(d *diagnostic.Diagnostic, text []byte, f secretscan.Finding) {
	if int64(len(text)) < f.End || bytes.IndexByte(text[:f.End], 0) >= 0 {
		if text != nil && f.Start > 0 {
			d.Message += fmt.Sprintf(", %d bytes from its start", f.Start)
		}
		return
	}
	start := bytes.LastIndexByte(text[:f.Start], '\n') + 1
	stop := len(text)
	if n := bytes.IndexByte(text[f.Start:], '\n'); n >= 0 {
		stop = int(f.Start) + n
	}
	end := min(int(f.End), stop) // it may continue on the next line
	line := []rune(strings.TrimSuffix(l.set.Star(string(text[start:stop])), "\r"))
	column := utf8.RuneCount(text[start:f.Start])
	endColumn := min(column+utf8.RuneCount(text[f.Start:end]), len(line))
	for i := column; i < endColumn; i++ { // of a secret of several lines
		line[i] = '*'
	}
	from := max(column-maxSourceLine, 0)
	d.Line = bytes.Count(text[:f.Start], []byte("\n")) + 1
	d.EndLine, d.Column, d.EndColumn = d.Line, column+1, endColumn+1
	d.Source, d.SourceColumn = string(line[from:min(endColumn+maxSourceLine, len(line))]), from+1
	if d.Line == 1 && bytes.HasPrefix(text, []byte("\ufeff")) { // a byte order mark does not count as a character
		d.Column, d.EndColumn, d.SourceColumn = d.Column-1, d.EndColumn-1, d.SourceColumn-1
	}
}
