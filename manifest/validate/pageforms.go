package validate

import (
	"errors"
	"fmt"
	"strings"

	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/diagnostic"
	"github.com/pages-toolchain/pages/manifest/htmlforms"
	"github.com/pages-toolchain/pages/manifest/limits"
	"github.com/pages-toolchain/pages/manifest/publicfiles"
	"github.com/pages-toolchain/pages/manifest/sitepath"
	"github.com/pages-toolchain/pages/manifest/sourcetext"
)

// pageSearch has the forms of the public pages.
type pageSearch struct {
	htmlforms.Search
	pages int
	cut   []string // pages that were not read to their end, or at all
}

// searchPage finds the forms in an HTML file.
func (b *bundle) searchPage(s *pageSearch, e publicfiles.Entry) {
	s.pages++
	switch err := s.Read(b.fsys, e.File, e.Path); {
	case errors.Is(err, htmlforms.ErrTooMuch):
		s.cut = append(s.cut, e.File)
	case err != nil && !sitepath.Vanished(b.fsys, e.File):
		b.Refuse(diagnostic.CodePathUnreadable, "/assets",
			fmt.Sprintf("the public file %s cannot be read: %s", sourcetext.Quote(e.File), sitepath.Reason(err)),
			"give yourself permission to read it")
	}
}

// checkPageForms compares the forms of the pages with the declared ones.
func (b *bundle) checkPageForms(a *assets) {
	s := &a.pages
	declared := map[string]bool{}
	for _, p := range b.Objects("/forms") {
		if name, ok := b.Str(p.Key("name")); ok {
			declared[name] = true
		}
	}
	found := map[string]bool{}
	for _, f := range s.Forms {
		if f.Gets {
			msg := fmt.Sprintf("the form %s is sent with GET, which the platform refuses with 405", sourcetext.Quote(f.Name))
			b.warnForm(f, diagnostic.CodeFormMethod, msg, `add method="post"`)
		}
		if f.Posts && !declared[f.Name] && !found[f.Name] {
			code := diagnostic.CodeFormUndeclared
			msg := fmt.Sprintf("the form %s is not declared: its leads raise pages.lead.captured only", sourcetext.Quote(f.Name))
			fix := fmt.Sprintf("give it a name of at most %d lowercase letters, digits, - and _", limits.MaxName)
			if name := f.Name; manifest.NameFix(name) == "write "+sourcetext.Literal(name) && len(name) <= limits.MaxName {
				event := strings.TrimPrefix(manifest.EventFix(name), "write ")
				fix = fmt.Sprintf(`add {"name": %q, "event": %s} to "forms", if it should raise an event of its own`, name, event)
			} else {
				code = diagnostic.CodeFormName
				msg = fmt.Sprintf("the form %s has an invalid name: the platform refuses it with 422", sourcetext.Quote(f.Name))
			}
			b.warnForm(f, code, msg, fix)
		}
		found[f.Name] = found[f.Name] || f.Posts || declared[f.Name]
	}
	b.checkFormTags(s.Tags, a)
	if len(s.cut) > 0 {
		msg := fmt.Sprintf("%s, starting with %s, are too large to search all of them for forms",
			diagnostic.Plural(len(s.cut), "public page"), sourcetext.Quote(s.cut[0]))
		if len(s.cut) == 1 {
			msg = fmt.Sprintf("the public page %s is too large to search all of it for forms", sourcetext.Quote(s.cut[0]))
		}
		b.Warn(diagnostic.CodePageCut, "/assets", msg, "move scripts and data to separate files")
		return
	}
	for _, p := range b.Objects("/forms") {
		name, ok := b.Str(p.Key("name"))
		if ok && s.pages > 0 && !found[name] {
			b.Warn(diagnostic.CodeFormUnused, p.Key("name"), "no page has the declared form "+sourcetext.Quote(name),
				"correct the name or remove it; this check does not see forms that a script or the Worker renders")
		}
	}
}

// warnForm warns of a form at its start tag.
func (b *bundle) warnForm(f htmlforms.Form, code, msg, fix string) {
	b.Diagnostics = append(b.Diagnostics, diagnostic.Diagnostic{
		Severity: diagnostic.Warning, Code: code, Path: "/forms", File: f.File,
		Line: f.Line, Column: f.Column, EndLine: f.EndLine, EndColumn: f.EndColumn,
		Message: msg, Fix: fix, Source: f.Source, SourceColumn: f.SourceColumn,
	})
}
