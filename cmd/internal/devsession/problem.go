package devsession

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/devserver"
	"github.com/pages-toolchain/pages/devserver/upstream"
	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/diagnostic"
	"github.com/pages-toolchain/pages/manifest/edgerules"
	"github.com/pages-toolchain/pages/manifest/secretscan"
	"github.com/pages-toolchain/pages/manifest/sitepath"
	pagesruntime "github.com/pages-toolchain/pages/runtime"
)

// titles holds the headings of problem pages.
var titles = map[pagesruntime.Kind]string{
	pagesruntime.KindLoad:         "The Worker could not be loaded",
	pagesruntime.KindException:    "The Worker threw an error",
	pagesruntime.KindNotResponse:  "The Worker did not return a Response",
	pagesruntime.KindHung:         "The Worker will never answer",
	pagesruntime.KindCPU:          "The Worker ran over its CPU limit",
	pagesruntime.KindMemory:       "The Worker ran out of memory",
	pagesruntime.KindResponseSize: "The Worker's response is too large",
	pagesruntime.KindReset:        "The Worker was restarted",
	pagesruntime.KindSystemMemory: "The system has no room for the Worker",
	pagesruntime.KindBusy:         "Too many Workers are in use",
	pagesruntime.KindPaused:       "A debugger has paused the Worker",
	pagesruntime.KindInternal:     "Something went wrong in pages itself",
}

// problemOf converts an error of a Worker into a problem page.
func problemOf(err error) devserver.Problem {
	if down, ok := errors.AsType[*upstream.DownError](err); ok {
		return downProblem(down)
	}
	f, ok := errors.AsType[*pagesruntime.Error](err)
	if !ok {
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

// secretsProblem describes an unreadable file of secrets.
func secretsProblem(err error) devserver.Problem {
	p := devserver.Problem{Kind: "secrets", Title: "The secrets could not be read", Message: err.Error()}
	if f, ok := errors.AsType[*failure.Error](err); ok {
		p.Fix = f.Fix
	}
	return p
}

// problems converts diagnostics into problem pages. A failed build shows only its errors; warnings follow after it succeeds.
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

// snippetReach is the number of lines shown on each side of a problem.
const snippetReach = 3

// snippet returns the lines around a line of a file of the site, without secrets.
func snippet(dir, file string, line int, secrets *secretscan.Set) []devserver.SnippetLine {
	root, err := os.OpenRoot(dir)
	if err != nil || line <= 0 {
		return nil
	}
	defer root.Close()
	file = filepath.FromSlash(file)
	if info, err := root.Stat(file); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	text, err := root.ReadFile(file)
	if err != nil {
		return nil
	}
	shown := secrets.Star(string(text))
	if filepath.Base(file) == sitepath.HeadersFile {
		shown = edgerules.StarHeaders(shown)
	}
	var out []devserver.SnippetLine
	number := 0
	for l := range strings.Lines(shown) {
		if number++; number > line+snippetReach {
			break
		}
		if number >= line-snippetReach {
			out = append(out, devserver.SnippetLine{Number: number, Text: strings.TrimRight(l, "\r\n"), Hit: number == line})
		}
	}
	return out
}
