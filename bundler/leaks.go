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
	"unicode/utf8"

	"github.com/go-sourcemap/sourcemap"

	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/diagnostic"
	"github.com/pages-toolchain/pages/manifest/secretscan"
)

// This file refuses a build that holds the value of a secret, where its author wrote it or a build tool put it. No text
// of it holds the value.

// What is unpacked of packed files to look into them: of each, and of all in one build.
const (
	maxUnpackedFile = 64 << 20
	maxUnpacked     = 1 << 30
)

// leaked holds the findings in a public file.
type leaked struct {
	found  []secretscan.Finding
	packed bool // the file is packed, and the places are in what it holds
	cut    bool // and that is longer than was looked through
}

// leaks looks for secrets in what is built.
type leaks struct {
	set   *secretscan.Set
	dir   string
	root  *os.Root
	found diagnostic.List
}

// hide takes secrets out of what other diagnostics quote.
func (l *leaks) hide(found diagnostic.List) diagnostic.List {
	for i, d := range found {
		found[i].Source, found[i].Message, found[i].Fix = l.set.Star(d.Source), l.set.Star(d.Message), l.set.Star(d.Fix)
	}
	return found
}

// all are the secrets in everything that is published or run.
func (l *leaks) all(m *manifest.Manifest, code compiled, files walked, migrations []Migration) diagnostic.List {
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
			l.report(c.file, nil, c.leaked.found, "this packed public file")
		default:
			l.report(c.file, l.beginning(c.file, c.leaked.found), c.leaked.found, "this public file")
		}
	}
	return append(l.found, cut.warn("secret-unsearched", "publish it as it is: answers are compressed on their way", "%s longer, unpacked, than is looked through for secrets")...)
}

// worker looks through the author's sources, which the source map holds, then through what they became.
func (l *leaks) worker(entry string, w *Worker) {
	var sources struct {
		Sources        []string
		SourcesContent []string
	}
	_ = json.Unmarshal(w.Map, &sources) // it is esbuild's own; without it the code alone is looked through
	told := map[string]bool{}
	for i, text := range sources.SourcesContent {
		for _, f := range l.text(sources.Sources[i], []byte(text), "this file of the Worker") {
			told[f.Name] = true
		}
	}
	// What is put together from parts is in no source.
	made := slices.DeleteFunc(l.set.Find(w.Code), func(f secretscan.Finding) bool { return told[f.Name] })
	var places *sourcemap.Consumer
	if len(made) > 0 {
		places, _ = sourcemap.Parse("", w.Map) // it is nil when that fails
	}
	for _, f := range oneEach(made) {
		file, line, column := entry, 1, 1
		if places != nil {
			before := w.Code[:f.first.Start]
			start := bytes.LastIndexByte(before, '\n') + 1
			if source, _, at, col, ok := places.Source(bytes.Count(before, []byte("\n"))+1, utf16Length(before[start:])); ok {
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
	for _, module := range w.Modules {
		l.text(module.file, module.Bytes, "this module of the Worker")
	}
}

// utf16Length is the length in the units that source maps count in.
func utf16Length(text []byte) int {
	n := 0
	for _, r := range string(text) {
		n++
		if r > 0xffff {
			n++
		}
	}
	return n
}

func nthLine(text string, number int) string {
	for line := range strings.Lines(text) {
		if number--; number == 0 {
			return strings.TrimRight(line, "\r\n")
		}
	}
	return ""
}

// text looks through a file that was read.
func (l *leaks) text(file string, text []byte, what string) []secretscan.Finding {
	found := l.set.Find(text)
	l.report(file, text, found, what)
	return found
}

// beginning is a public file up to the last finding, and what follows it: enough that no other secret is cut where the
// line is.
func (l *leaks) beginning(file string, found []secretscan.Finding) []byte {
	f, err := openAtOnce(l.root, filepath.FromSlash(file))
	if err != nil {
		return nil // the report then lacks the line
	}
	defer f.Close()
	text, _ := io.ReadAll(io.LimitReader(f, found[len(found)-1].End+utf8.UTFMax*maxSourceLine+int64(l.set.Longest()))) // as far as it can be read
	return text
}

// perSecret are the findings of one secret in one file.
type perSecret struct {
	first secretscan.Finding
	more  int
}

// oneEach gathers the findings of each secret, a sure one before a weak one.
func oneEach(found []secretscan.Finding) (list []perSecret) {
	for _, f := range found {
		i := slices.IndexFunc(list, func(p perSecret) bool { return p.first.Name == f.Name })
		switch {
		case i < 0:
			list = append(list, perSecret{first: f})
		case list[i].first.Weak && !f.Weak:
			list[i] = perSecret{f, list[i].more + 1}
		default:
			list[i].more++
		}
	}
	return list
}

// report tells of each secret in a file once, at its first place. A text that is not known has no places.
func (l *leaks) report(file string, text []byte, found []secretscan.Finding, what string) {
	for _, f := range oneEach(found) {
		d := l.diagnostic(file, f, what)
		l.place(&d, text, f.first)
		l.found = append(l.found, d)
	}
}

func (l *leaks) diagnostic(file string, f perSecret, what string) diagnostic.Diagnostic {
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
		d.Message += ", maybe by chance: the value is short or usual"
		d.Fix = "give " + name + " a long random value; if it is no secret, take it out of bindings.secrets"
		return d
	}
	d.Fix = "take it out, and read env." + name + " in the Worker; a build tool may have put it here, for import.meta.env or process.env; " +
		"make a new secret if this one was published; if it is none, take " + name + " out of bindings.secrets"
	return d
}

// maxSourceLine is how much of a line is kept on each side of a place, in characters.
const maxSourceLine = 512

// place says where in a text a finding is, as far as it is text.
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
	end := min(int(f.End), stop) // it may go on in the next line
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
	if d.Line == 1 && bytes.HasPrefix(text, []byte(byteOrderMark)) { // it is no character of its line
		d.Column, d.EndColumn, d.SourceColumn = d.Column-1, d.EndColumn-1, d.SourceColumn-1
	}
}

const byteOrderMark = "\ufeff"
