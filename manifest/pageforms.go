package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"golang.org/x/net/html"

	"github.com/pages-toolchain/pages/manifest/limits"
)

// This file compares the forms of the public pages with those the manifest declares.

// pageSearch is what was found in the public pages.
type pageSearch struct {
	pages int
	forms []pageForm
	work  int64    // bytes read, in the sense of maxPageWork
	kept  int      // forms and fields, in the sense of maxPageForms
	cut   []string // pages that were not read to their end, or at all
	buf   []byte
}

// page looks for forms in an HTML file. Most pages have none, which reading tells faster than parsing.
func (b *bundle) page(a *assets, e AssetEntry) {
	s := &a.pages
	s.pages++
	has, err := b.mentionsForm(s, e.File)
	if err == nil && has {
		err = b.readPage(s, e)
	}
	switch {
	case errors.Is(err, errTooMuch), errors.Is(err, html.ErrBufferExceeded):
		s.cut = append(s.cut, e.File)
	case err != nil && !vanished(b.fsys, e.File):
		b.refuse(codePathUnreadable, "/assets", fmt.Sprintf("the public file %s cannot be read: %s", quote(e.File), reason(err)), "let the user who runs this read it, or move it out of "+quote(a.dir))
	}
}

// errTooMuch ends the search for forms where it would take too long.
var errTooMuch = errors.New("too much to look through")

// mentionsForm reports whether a file has the text of a form's start tag, or of an iframe's, which may hold a
// page with one.
func (b *bundle) mentionsForm(s *pageSearch, name string) (bool, error) {
	f, err := openRegular(b.fsys, name)
	if err != nil {
		return false, err
	}
	defer f.Close()
	if s.buf == nil {
		s.buf = make([]byte, 64<<10)
	}
	for kept := 0; ; {
		if s.work >= maxPageWork {
			return false, errTooMuch
		}
		n, err := f.Read(s.buf[kept:])
		s.work += int64(n)
		text := s.buf[:kept+n]
		if mayHoldForm(text) {
			return true, nil
		}
		if errors.Is(err, io.EOF) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		kept = copy(s.buf, text[max(len(text)-len("<iframe")+1, 0):])
	}
}

// mayHoldForm looks for "<form" and "<iframe" in any case.
func mayHoldForm(text []byte) bool {
	for {
		i := bytes.IndexByte(text, '<')
		if i < 0 {
			return false
		}
		text = text[i+1:]
		for _, tag := range [...]string{"form", "iframe"} {
			if len(text) >= len(tag) && text[0]|0x20 == tag[0] && strings.EqualFold(string(text[:len(tag)]), tag) {
				return true
			}
		}
	}
}

// readPage parses a page for its forms.
func (b *bundle) readPage(s *pageSearch, e AssetEntry) error {
	f, err := openRegular(b.fsys, e.File)
	if err != nil {
		return err
	}
	defer f.Close()
	p := newPageScan(e.File, e.Path)
	p.kept = &s.kept
	err = p.run(&meter{r: f, work: &s.work})
	s.forms = append(s.forms, p.found()...)
	return err
}

// meter counts what parsing takes.
type meter struct {
	r    io.Reader
	work *int64
}

// Read implements io.Reader.
func (m *meter) Read(p []byte) (int, error) {
	if *m.work >= maxPageWork {
		return 0, errTooMuch
	}
	n, err := m.r.Read(p)
	*m.work += parsingCost * int64(n)
	return n, err
}

// openRegular opens a file after making sure that it is one: opening a pipe would wait for its other end.
func openRegular(fsys fs.FS, name string) (fs.File, error) {
	info, err := fs.Stat(fsys, name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: name, Err: errNotRegular}
	}
	return fsys.Open(name)
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
	for _, f := range s.forms {
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
