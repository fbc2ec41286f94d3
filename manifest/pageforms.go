package manifest

import (
	"errors"
	"fmt"
	"strings"

	"github.com/pages-toolchain/pages/manifest/limits"
)

// This file compares the forms of the public pages with those the manifest declares.

// pageSearch is what was found in the public pages.
type pageSearch struct {
	Search
	pages int
	cut   []string // pages that were not read to their end, or at all
}

// page looks for forms in an HTML file.
func (b *bundle) page(a *assets, e AssetEntry) {
	s := &a.pages
	s.pages++
	switch err := s.Read(b.fsys, e.File, e.Path); {
	case errors.Is(err, errTooMuch):
		s.cut = append(s.cut, e.File)
	case err != nil && !vanished(b.fsys, e.File):
		b.refuse(codePathUnreadable, "/assets", fmt.Sprintf("the public file %s cannot be read: %s", quote(e.File), reason(err)),
			"let the user who runs this read it")
	}
}

// checkPageForms compares the forms of the pages with those declared.
func (b *bundle) checkPageForms(s *pageSearch) {
	declared := map[string]bool{}
	for _, p := range b.objects("/forms") {
		if name, ok := b.str(p.key("name")); ok {
			declared[name] = true
		}
	}
	found := map[string]bool{}
	for _, f := range s.Forms {
		if f.gets {
			b.warnForm(f, codeFormMethod, fmt.Sprintf("the form %s is sent with GET, which the platform refuses with 405", quote(f.name)), `add method="post"`)
		}
		if f.posts && !declared[f.name] && !found[f.name] {
			b.undeclared(f)
		}
		found[f.name] = found[f.name] || f.posts || declared[f.name]
	}
	if len(s.cut) > 0 {
		msg := fmt.Sprintf("%s, starting with %s, have more in them than is looked through for forms", plural(len(s.cut), "public page"), quote(s.cut[0]))
		if len(s.cut) == 1 {
			msg = fmt.Sprintf("the public page %s has more in it than is looked through for forms", quote(s.cut[0]))
		}
		b.warn(codePageCut, "/assets", msg, "keep scripts and data in files of their own")
		return
	}
	for _, p := range b.objects("/forms") {
		name, ok := b.str(p.key("name"))
		if ok && s.pages > 0 && !found[name] {
			b.warn(codeFormUnused, p.key("name"), "no page has the declared form "+quote(name),
				"correct the name or remove it; forms that a script or the Worker renders are not seen here")
		}
	}
}

func (b *bundle) undeclared(f pageForm) {
	fix := fmt.Sprintf("give it a name of at most %d lowercase letters, digits, - and _", limits.MaxName)
	if name := f.name; nameFix(name) == "write "+literal(name) && len(name) <= limits.MaxName {
		event := strings.TrimPrefix(eventFix(name), "write ")
		fix = fmt.Sprintf(`add {"name": %q, "event": %s} to "forms", if it should raise an event of its own`, name, event)
	}
	b.warnForm(f, codeFormUndeclared, fmt.Sprintf("the form %s is not declared: its leads raise pages.lead.captured only", quote(f.name)), fix)
}

// warnForm warns of a form where its start tag stands.
func (b *bundle) warnForm(f pageForm, code, msg, fix string) {
	b.diagnostics = append(b.diagnostics, Diagnostic{
		Severity: Warning, Code: code, Path: "/forms", File: f.file,
		Line: f.line, Column: f.column, EndLine: f.endLine, EndColumn: f.endColumn,
		Message: msg, Fix: fix, Source: f.source, SourceColumn: f.sourceColumn,
	})
}
