package bundler

import (
	"cmp"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/diagnostic"
)

// explainer turns esbuild's messages into diagnostics.
type explainer struct {
	target
	dir      string
	provided []string
	reads    *reads
}

func (e explainer) all(result api.BuildResult) (found diagnostic.List) {
	for _, m := range result.Errors {
		found = append(found, e.message(m, "error"))
	}
	for _, m := range result.Warnings {
		found = append(found, e.message(m, "warning"))
	}
	return gather(found)
}

func (e explainer) message(m api.Message, severity string) diagnostic.Diagnostic {
	d := problem("worker-syntax", e.entry, "", "%s", sentence(m.Text))
	if severity == "warning" {
		d = warning("worker-"+cmp.Or(m.ID, "warning"), e.entry, "", "%s", sentence(m.Text))
	}
	if m.Location != nil {
		e.place(&d, m.Location)
	}
	var fixes []string
	for _, note := range m.Notes {
		if note.Text == "" || aboutEsbuild().MatchString(note.Text) {
			continue
		}
		fix := sentence(note.Text)
		if note.Location != nil {
			var at diagnostic.Diagnostic
			e.place(&at, note.Location)
			fix = strings.TrimSuffix(fix, ":") + " (" + placeText(at) + ")"
		}
		fixes = append(fixes, fix)
	}
	d.Fix = strings.Join(fixes, "; ")
	e.refine(&d, m)
	return d
}

// place sets the place of a diagnostic from esbuild's, which counts bytes from 0.
func (e explainer) place(d *diagnostic.Diagnostic, l *api.Location) {
	d.File, d.Line, d.EndLine, d.Source = filepath.ToSlash(l.File), l.Line, l.Line, l.LineText
	before, text := splitLine(l)
	d.Column = utf8.RuneCountInString(before) + 1
	d.EndColumn = d.Column + utf8.RuneCountInString(text)
}

// splitLine returns the part of a place's text on its first line, and the text of the line before it.
func splitLine(l *api.Location) (before, text string) {
	start := min(max(l.Column, 0), len(l.LineText))
	end := min(start+max(l.Length, 0), len(l.LineText))
	return l.LineText[:start], l.LineText[start:end]
}

// aboutEsbuild matches notes for callers of esbuild.
var aboutEsbuild = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^You can mark the path|--platform=|Platform: api\.|platform: '|^The plugin "`)
})

// sentence makes a message of esbuild's text: lower case first, no full stop last.
func sentence(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	if next, _ := utf8.DecodeRuneInString(text[size:]); unicode.IsUpper(first) && !unicode.IsUpper(next) {
		text = string(unicode.ToLower(first)) + text[size:]
	}
	return strings.TrimSuffix(text, ".")
}

var (
	unresolved = regexp.MustCompile(`^Could not resolve "(.*?)"`)
	unread     = regexp.MustCompile(`^Cannot read file: `) // of a name in another case
	noLoader   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^No loader is configured for "(.*?)" files: (.*)$`) })
	noExport   = regexp.MustCompile(`^No matching export in "`)
)

// refine sets a code and a fix for the most frequent messages.
func (e explainer) refine(d *diagnostic.Diagnostic, m api.Message) {
	if own, ok := m.Detail.(refusal); ok {
		d.Code, d.Fix = own.code, own.fix
		return
	}
	if d.Severity == diagnostic.Warning {
		return
	}
	if hit := unresolved.FindStringSubmatch(m.Text); hit != nil {
		e.explainUnresolved(d, hit[1], m.Location)
		return
	}
	if hit := noLoader().FindStringSubmatch(m.Text); hit != nil {
		d.Code = "import-kind"
		d.Message = `"` + filepath.ToSlash(hit[2]) +
			`" cannot be imported: a Worker imports code, JSON, .txt, .html, .sql, .bin and .wasm files`
		d.Fix = `serve it from the assets folder, or import it with { type: "bytes" } or { type: "text" }`
		if hit[1] == ".node" {
			d.Message = `"` + filepath.ToSlash(hit[2]) + `" cannot be imported: it is machine code for Node.js, which Workers cannot run`
			d.Fix = "use a package in JavaScript or WebAssembly, or a binding of the platform"
		}
		return
	}
	if l := m.Location; unread.MatchString(m.Text) && l != nil {
		_, specifier := splitLine(l)
		e.missingFile(d, strings.Trim(specifier, `"'`+"`"), l.File)
	}
	if noExport.MatchString(m.Text) {
		d.Code = "import-name"
	}
	if d.Code == "worker-syntax" && d.Fix == "" {
		d.Fix = e.extensionFix(d.File)
	}
}

// explainUnresolved explains an unresolved import.
func (e explainer) explainUnresolved(d *diagnostic.Diagnostic, specifier string, at *api.Location) {
	name := strings.TrimPrefix(specifier, "node:")
	scheme, _, hasScheme := strings.Cut(specifier, ":")
	importer := e.entry
	if at != nil {
		importer = at.File
	}
	switch {
	case slices.Contains(nodeModules, name) && (name != specifier || !onlyPrefixed(name)):
		e.nodeModule(d, "node:"+name)
	case hasScheme && scheme == "node":
		d.Code, d.Message = "import-node", `Node.js has no module "`+specifier+`"`
		d.Fix = didYouMean(diagnostic.Nearest(name, nodeModules))
	case needsNodeJS(specifier) && !e.nodeJS:
		e.nodeModule(d, specifier)
	case hasScheme && scheme == "cloudflare":
		d.Code, d.Message, d.Fix = "import-platform", `"`+specifier+`" belongs to a product that the platform does not have`,
			absentProducts[specifier]
		if d.Fix == "" {
			d.Message, d.Fix = `"`+specifier+`" is not provided by this version of pages`, "available: "+e.providedBy("cloudflare:")
		}
	case relativeImport.MatchString(specifier):
		e.missingFile(d, specifier, importer)
	default:
		e.missingPackage(d, specifier, importer)
	}
}

// relativeImport matches specifiers of files.
var relativeImport = regexp.MustCompile(`^(/|\.\.?(/|$))`)

// absentProducts are the modules of products that the platform does not have, with their fixes.
var absentProducts = map[string]string{
	"cloudflare:email":     "call a mail service with fetch",
	"cloudflare:pipelines": "keep the records in the database, or send them with fetch",
	"cloudflare:workflows": "do the work in ctx.waitUntil, and keep its state in the database",
}

func (e explainer) nodeModule(d *diagnostic.Diagnostic, specifier string) {
	d.Code = "import-node"
	if !e.nodeJS {
		d.Message = `"` + specifier + `" is a module of Node.js, which a Worker has only with the flag "` + manifest.FlagNodeJS + `"`
		d.Fix = `use a web API instead, or add "` + manifest.FlagNodeJS + `" to runtime.compatibilityFlags in ` + manifest.FileName
		return
	}
	d.Message = `"` + specifier + `" is not provided by this version of pages`
	d.Fix = "available: " + e.providedBy("node:")
}

// providedBy lists the provided modules of a scheme.
func (e explainer) providedBy(scheme string) string {
	var names []string
	for _, name := range e.provided {
		if strings.HasPrefix(name, scheme) && (e.nodeJS || !needsNodeJS(name)) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return "no " + scheme + " module"
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// placeText returns a diagnostic's place as text.
func placeText(d diagnostic.Diagnostic) string {
	return d.File + ":" + strconv.Itoa(d.Line) + ":" + strconv.Itoa(d.Column)
}

// gather merges the diagnostics of all imports of the same missing module, since missing packages need a single fix. The
// result has the first place, and its message names a few others.
func gather(found diagnostic.List) diagnostic.List {
	const named = 3 // further places
	found.Sort()
	var kept diagnostic.List
	first := map[string]int{}    // index of each in kept
	others := map[int][]string{} // the further places of each in kept
	for _, d := range found {
		// "./x" is a different file in each folder, so it is not merged.
		if d.Code == "import-node" || d.Code == "import-platform" || strings.HasPrefix(d.Message, noPackage) {
			key := d.Message + "\n" + d.Fix
			if i, known := first[key]; known {
				others[i] = append(others[i], placeText(d))
				continue
			}
			first[key] = len(kept)
		}
		kept = append(kept, d)
	}
	for i, places := range others {
		text := "; one more import of it is at " + places[0]
		if len(places) > 1 {
			text = fmt.Sprintf("; %d more imports of it are at %s", len(places), strings.Join(places[:min(named, len(places))], ", "))
		}
		switch more := len(places) - named; {
		case more == 1:
			text += " and one other place"
		case more > 1:
			text += fmt.Sprintf(" and %d other places", more)
		}
		kept[i].Message += text
	}
	return kept
}

// problem returns an error about a file by its path relative to the site's folder, "" for none.
func problem(code, file, fix, format string, args ...any) diagnostic.Diagnostic {
	return diagnostic.Diagnostic{Severity: diagnostic.Error, Code: code, File: file, Fix: fix, Message: fmt.Sprintf(format, args...)}
}

// warning is [problem] with the severity of a warning.
func warning(code, file, fix, format string, args ...any) diagnostic.Diagnostic {
	d := problem(code, file, fix, format, args...)
	d.Severity = diagnostic.Warning
	return d
}

// failure returns the diagnostic of a failure that the site did not cause.
func failure(code, what string, err error) diagnostic.Diagnostic {
	return problem(code, "", "", "%s: %v", what, err)
}
