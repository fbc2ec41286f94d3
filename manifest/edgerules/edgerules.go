// Package edgerules reads "_headers" and "_redirects": headers for the responses of static files, and redirects.
//
// Input: the two files. Output: [Rules], which never change and are safe for concurrent use, and diagnostics for every line
// that is invalid or would publish a secret. No function returns an error. The package serves nothing, and knows neither
// routes nor members.
//
// The platform document does not mention the files; their form follows the documentation of Cloudflare Pages and of
// Workers' static assets (developers.cloudflare.com/workers/static-assets). Cloudflare ignores an invalid line. Here it
// is an error: a header that a typo drops protects no page.
package edgerules

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pages-toolchain/pages/manifest/diagnostic"
	"github.com/pages-toolchain/pages/manifest/fileindex"
	"github.com/pages-toolchain/pages/manifest/sitepath"
	"github.com/pages-toolchain/pages/manifest/sourcetext"
)

// Bounds of the two files. All but the last are Cloudflare's.
const (
	maxEdgeLine         = 2000 // characters
	maxHeaderRules      = 100
	maxStaticRedirects  = 2000
	maxDynamicRedirects = 100 // counted from the first one with a star or a placeholder
	maxEdgeFile         = 8 << 20
)

// Rules are the rules of both files; nil has none. Make them with [Load] or [Parse]; they never change.
type Rules struct {
	headers   []headerRule
	redirects []redirectRule // in the order of the file
	exact     map[string]int // path to the first redirect without a star or a placeholder
	dynamic   []int          // the others that count before the files
	fallbacks []int          // those that count after them
}

// Load reads the two files in an assets folder of fsys; a missing file has no rules. Files in the diagnostics are named as
// in fsys. Without an error among them the rules are complete.
func Load(fsys fs.FS, assets string) (*Rules, diagnostic.List) {
	return load(fsys, assets, nil)
}

// Check is Load for a site whose public files, relative to the assets folder, are known: its diagnostics include redirects from
// page to page, and files that a rule hides.
func Check(fsys fs.FS, assets string, files []string) diagnostic.List {
	_, found := load(fsys, assets, fileindex.Of(files))
	return found
}

func load(fsys fs.FS, assets string, files fileindex.Index[string]) (*Rules, diagnostic.List) {
	if assets == "" {
		return nil, nil
	}
	var found diagnostic.List
	read := func(name string) edgeFile {
		name = path.Join(sitepath.CleanPath(assets), name)
		text, err := sitepath.ReadFile(fsys, name, maxEdgeFile+1)
		switch {
		case err != nil:
			text = nil // the walk over the public files reports the error
		case len(text) > maxEdgeFile:
			found = append(found,
				diagnostic.FileError(diagnostic.CodeEdgeTooMany, name, `join rules with "*" or ":name"`, "%q is longer than 8 MiB", name))
			text = nil
		case !utf8.Valid(text):
			found = append(found, diagnostic.FileError(diagnostic.CodeEdgeLine, name, "save it as UTF-8", "%q is not UTF-8", name))
			text = nil
		}
		return edgeFile{name: name, lines: sourcetext.NewLines(string(text))}
	}
	headers, redirects := read(sitepath.HeadersFile), read(sitepath.RedirectsFile)
	rules := parseEdgeRules(&headers, &redirects, files)
	found = slices.Concat(found, headers.found, redirects.found)
	for i := range found {
		if found[i].Line == 0 { // about the whole file
			found[i].Line, found[i].Column, found[i].EndLine, found[i].EndColumn = 1, 1, 1, 1
		}
	}
	return rules, found
}

// Parse reads the text of the two files. The files of the diagnostics are "_headers" and "_redirects".
func Parse(headers, redirects string) (*Rules, diagnostic.List) {
	h := edgeFile{name: sitepath.HeadersFile, lines: sourcetext.NewLines(headers)}
	r := edgeFile{name: sitepath.RedirectsFile, lines: sourcetext.NewLines(redirects)}
	rules := parseEdgeRules(&h, &r, nil)
	return rules, slices.Concat(h.found, r.found)
}

func parseEdgeRules(headers, redirects *edgeFile, files fileindex.Index[string]) *Rules {
	rules := newRules(headers.headerRules(), redirects.redirectRules())
	if len(rules.headers)+len(rules.redirects) == 0 {
		return nil
	}
	looped := rules.checkLoops(redirects, files)
	rules.checkChains(redirects, looped)
	rules.checkPages(redirects, files, looped)
	return rules
}

func newRules(headers []headerRule, redirects []redirectRule) *Rules {
	rules := &Rules{headers: headers, redirects: redirects, exact: map[string]int{}}
	for i, r := range redirects {
		switch {
		case r.fallback:
			rules.fallbacks = append(rules.fallbacks, i)
		case r.from.literal():
			rules.exact[r.from.prefix] = i // each path has one
		default:
			rules.dynamic = append(rules.dynamic, i)
		}
	}
	return rules
}

// edgeFile is one of the two files while it is read.
type edgeFile struct {
	name  string
	lines *sourcetext.Lines
	found diagnostic.List
}

// edgeLine is a line with text, without the space around it.
type edgeLine struct {
	text   string
	number int
	offset int // of text in the file
}

// ruleLines lists the lines that are neither empty, nor comments, nor too long.
func (f *edgeFile) ruleLines() []edgeLine {
	var list []edgeLine
	for i, start := range f.lines.Starts {
		raw := f.lines.Text(i + 1)
		text := strings.TrimSpace(raw)
		if text == "" || text[0] == '#' {
			continue
		}
		line := edgeLine{text: text, number: i + 1, offset: start + strings.Index(raw, text)}
		if utf8.RuneCountInString(text) > maxEdgeLine {
			f.refuse(diagnostic.CodeEdgeTooMany, line.span(), fmt.Sprintf("the line is longer than %d characters", maxEdgeLine),
				"shorten it, or answer such paths in the Worker")
			continue
		}
		list = append(list, line)
	}
	return list
}

func (l edgeLine) span() sourcetext.Span {
	return sourcetext.Span{Start: l.offset, End: l.offset + len(l.text)}
}

// fields splits a line at its spaces, each with its place.
func (l edgeLine) fields() (words []string, at []sourcetext.Span) {
	rest := 0
	for word := range strings.FieldsSeq(l.text) {
		start := rest + strings.Index(l.text[rest:], word)
		rest = start + len(word)
		words, at = append(words, word), append(at, sourcetext.Span{Start: l.offset + start, End: l.offset + rest})
	}
	return words, at
}

func (f *edgeFile) refuse(code string, at sourcetext.Span, msg, fix string) {
	f.add(diagnostic.Error, code, at, msg, fix)
}

func (f *edgeFile) warn(code string, at sourcetext.Span, msg, fix string) {
	f.add(diagnostic.Warning, code, at, msg, fix)
}

func (f *edgeFile) add(s diagnostic.Severity, code string, at sourcetext.Span, msg, fix string) {
	f.found = append(f.found, diagnostic.InFile(f.name, f.lines, s, code, "", at, msg, fix))
}
