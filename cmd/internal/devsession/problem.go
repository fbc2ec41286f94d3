package devsession

import (
	"errors"
	"net/http"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/devserver"
	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/diagnostic"
	pagesruntime "github.com/pages-toolchain/pages/runtime"
)

// titles are the headings of the pages for each kind of failure.
var titles = map[pagesruntime.Kind]string{
	pagesruntime.KindLoad:        "The Worker could not be loaded",
	pagesruntime.KindException:   "The Worker threw an error",
	pagesruntime.KindNotResponse: "The Worker did not return a Response",
	pagesruntime.KindHung:        "The Worker will never answer",
	pagesruntime.KindCPU:         "The Worker ran over its CPU limit",
	pagesruntime.KindMemory:      "The Worker ran out of memory",
	pagesruntime.KindAnswerSize:  "The Worker's answer is too large",
	pagesruntime.KindReset:       "The Worker was restarted",
	pagesruntime.KindRoom:        "The system has no room for the Worker",
	pagesruntime.KindInternal:    "Something went wrong in pages itself",
}

// problemOf is an error of a Worker in the terms of the dev server's pages.
func problemOf(err error) devserver.Problem {
	var f *pagesruntime.Error
	if !errors.As(err, &f) {
		return devserver.Problem{
			Kind: "internal", Title: titles[pagesruntime.KindInternal], Message: err.Error(),
			Status: http.StatusInternalServerError,
		}
	}
	p := devserver.Problem{
		Kind: string(f.Kind), Title: titles[f.Kind], Message: f.Headline(), Fix: f.Fix, Status: f.Status(),
		Retriable: f.Retriable(),
	}
	for _, frame := range f.Frames {
		p.Frames = append(p.Frames, devserver.Frame(frame))
	}
	if len(f.Frames) > 0 {
		p.File, p.Line, p.Column = f.Frames[0].File, f.Frames[0].Line, f.Frames[0].Column
	}
	for _, l := range f.Snippet {
		p.Snippet = append(p.Snippet, devserver.SnippetLine{Number: l.Number, Text: l.Text, Hit: l.Hit})
	}
	p.Snippet = devserver.FitSnippet(p.Snippet, p.Column)
	for _, cause := range f.Causes {
		p.Notes = append(p.Notes, cause.String())
	}
	return p
}

// secretsProblem is a file of secrets that cannot be read.
func secretsProblem(err error) devserver.Problem {
	p := devserver.Problem{Kind: "secrets", Title: "The secrets could not be read", Message: err.Error()}
	if f, ok := errors.AsType[*failure.Error](err); ok {
		p.Fix = f.Fix
	}
	return p
}

// problems are diagnostics in the terms of the dev server's pages. Those of a build
// that failed are what stops it: the warnings are told when it builds.
func (b *builder) problems(diags diagnostic.List, title string) []devserver.Problem {
	var list []devserver.Problem
	failed := diags.HasErrors()
	for _, d := range diags {
		if failed && d.Severity == diagnostic.Warning {
			continue
		}
		title := title
		if d.Severity == diagnostic.Warning {
			title = "Worth a look"
		}
		p := devserver.Problem{
			Kind: d.Code, Title: title, Message: d.Message, Fix: d.Fix,
			File: d.File, Line: d.Line, Column: d.Column,
		}
		if p.File == "" {
			p.File = manifest.FileName
		}
		if d.EndLine == d.Line {
			p.EndColumn = d.EndColumn
		}
		lines := snippet(b.run.dir, p.File, p.Line, b.private.set)
		if lines == nil && d.Source != "" && d.SourceColumn <= 1 { // of a file outside the site, as in a workspace of packages
			lines = []devserver.SnippetLine{{Number: p.Line, Text: d.Source, Hit: true}}
		}
		p.Snippet = devserver.FitSnippet(lines, p.Column)
		list = append(list, p)
	}
	return list
}
