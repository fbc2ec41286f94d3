package devsession

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/pages-toolchain/pages/devserver"
	"github.com/pages-toolchain/pages/devserver/site"
	"github.com/pages-toolchain/pages/manifest/sourcetext"
	pagesruntime "github.com/pages-toolchain/pages/runtime"
)

// printedFrame matches a line of a trace in the text of a call of console: "    at handle (src/worker.ts:12:3)".
var printedFrame = regexp.MustCompile(`(?m)^\s+at (?:(.+) \()?([^()\s]+):(\d+):(\d+)\)?$`)

// printsError reports whether a request logged an Error with its trace.
func printsError(l pagesruntime.Line) bool {
	return l.Request != nil && l.Called && l.Level == "error" && printedFrame.MatchString(l.Text)
}

// errorPage answers for a Worker that failed, or whose framework turned an error into a line of text.
func (b *builder) errorPage(w http.ResponseWriter, r *http.Request, err error) {
	if logged, ok := errors.AsType[*site.LoggedError](err); ok { // it was printed with its log line
		devserver.WriteProblemPage(w, r, b.loggedProblem(logged))
		return
	}
	b.console.errorPage(w, r, err)
}

// loggedProblem describes an error that the Worker logged before it answered with a line of text.
func (b *builder) loggedProblem(e *site.LoggedError) devserver.Problem {
	p := devserver.Problem{
		Kind: string(pagesruntime.KindException), Title: fmt.Sprintf("The Worker logged an error and answered %d", e.Status),
		Message: strings.TrimSpace(e.Line.Text), Status: e.Status,
		Notes: []string{"visitors see the Worker's own response: " + sourcetext.Quote(e.Text)},
	}
	for _, at := range printedFrame.FindAllStringSubmatchIndex(e.Line.Text, -1) {
		part := func(i int) string {
			if at[2*i] < 0 {
				return ""
			}
			return e.Line.Text[at[2*i]:at[2*i+1]]
		}
		if len(p.Frames) == 0 {
			p.Message = strings.TrimSpace(e.Line.Text[:at[0]])
		}
		line, _ := strconv.Atoi(part(3))   // digits; a number that does not fit counts as no line
		column, _ := strconv.Atoi(part(4)) // likewise
		p.Frames = append(p.Frames, devserver.Frame{Func: part(1), File: part(2), Line: line, Column: column})
	}
	installed := func(f devserver.Frame) bool { return strings.Contains("/"+f.File, "/node_modules/") }
	first := max(slices.IndexFunc(p.Frames, func(f devserver.Frame) bool { return !installed(f) }), 0)
	if first < len(p.Frames) {
		at := p.Frames[first]
		p.File, p.Line, p.Column = at.File, at.Line, at.Column
		p.Snippet = devserver.FitSnippet(snippet(b.run.dir, p.File, p.Line, b.hidden.Load()), p.Column)
	}
	if slices.ContainsFunc(p.Frames, func(f devserver.Frame) bool { return strings.Contains(f.File, "node_modules/hono/") }) {
		p.Fix = "pass errors on, and the platform logs them with their place and a fix: app.onError((error) => { throw error; })"
	}
	return p
}
