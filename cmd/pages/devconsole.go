package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/pages-toolchain/pages/devserver"
	"github.com/pages-toolchain/pages/devserver/site"
	pagesruntime "github.com/pages-toolchain/pages/runtime"
)

// console is what `pages dev` says: the ready line and, with --json, every
// event on stdout, one JSON document a line; prose for people on stderr.
type console struct {
	cli     *cli
	history *devserver.RequestLog // nil until the state is open
	warned  string                // the warnings told last; of the goroutine that builds
	mu      sync.Mutex            // lines come from many goroutines
}

func newConsole(c *cli) *console { return &console{cli: c} }

// logger takes what rooms have to say that nobody asked for.
func (k *console) logger() *slog.Logger {
	level := slog.LevelWarn
	if k.cli.verbose {
		level = slog.LevelDebug
	}
	return slog.New(slog.NewTextHandler(lockedWriter{k}, &slog.HandlerOptions{Level: level, ReplaceAttr: dropTime}))
}

func dropTime(_ []string, a slog.Attr) slog.Attr {
	if a.Key == slog.TimeKey {
		return slog.Attr{}
	}
	return a
}

type lockedWriter struct{ k *console }

func (w lockedWriter) Write(b []byte) (int, error) {
	w.k.mu.Lock()
	defer w.k.mu.Unlock()
	return w.k.cli.stderr.Write(b)
}

// event prints one line of JSON.
func (k *console) event(v any) {
	k.mu.Lock()
	defer k.mu.Unlock()
	enc := json.NewEncoder(k.cli.stdout)
	enc.SetEscapeHTML(false)
	// Writing to stdout fails only when its reader is gone.
	_ = enc.Encode(v)
}

// line prints a line for people.
func (k *console) line(format string, args ...any) {
	if k.cli.quiet {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	fmt.Fprintf(k.cli.stderr, format+"\n", args...)
}

// ready is the first line on stdout: the contract with scripts.
func (k *console) ready(r *devRun) {
	if k.cli.json {
		k.event(readyEvent{"ready", r.sockets.URL})
		return
	}
	k.mu.Lock()
	fmt.Fprintf(k.cli.stdout, "ready %s\n", r.sockets.URL)
	k.mu.Unlock()
	for _, l := range devserver.Describe(r.manifest).Bindings {
		k.line("  %-12s %s", l.Name, l.Kind)
	}
	if r.flags.strictPort || r.flags.port == 0 || r.sockets.Port == r.flags.port {
		k.line("  dashboard    %s/__pages/", r.sockets.URL)
		return
	}
	k.line("  dashboard    %s/__pages/  (port %d was taken)", r.sockets.URL, r.flags.port)
}

// build tells of one build.
func (k *console) build(b devserver.Build) {
	if k.cli.json {
		k.event(buildEvent{"build", b.Number, b.OK, float64(b.Took) / float64(time.Millisecond), append([]devserver.Problem{}, b.Problems...)})
		return
	}
	k.problems(b)
	switch {
	case b.Stale:
		k.line("the build failed; what was good before is still served")
	case !b.OK:
		k.line("nothing is served until the site builds; it is tried again when a file changes")
	case b.Number > 1:
		k.line("rebuilt in %s", b.Took.Round(time.Millisecond/10))
	}
}

// problems prints what is wrong, warnings only when they are not those of the
// build before.
func (k *console) problems(b devserver.Build) {
	said := fmt.Sprint(b.Problems)
	if b.OK && said == k.warned {
		return
	}
	if b.OK {
		k.warned = said
	}
	if !b.OK {
		k.line("%s %s", k.cli.paint("31;1", "error:"), strings.TrimSpace(devserver.ProblemsText(b.Problems)))
		return
	}
	for _, p := range b.Problems {
		k.line("%s %s: %s", k.cli.paint("33", "warning:"), p.Place(), p.Message)
	}
}

// request tells of one request, and keeps it. The dashboard asks often: what it
// asks for is not worth keeping.
func (k *console) request(rec site.RequestRecord) {
	if k.history != nil && rec.Source != site.FromControl {
		k.history.Add(rec)
	}
	if k.cli.json {
		k.event(typedRequest{"request", rec})
		return
	}
	if rec.Source == site.FromControl && !k.cli.verbose {
		return
	}
	k.line("%s", devserver.FormatRequest(rec, k.cli.colored(k.cli.stderr)))
}

// delivery tells of one attempt to deliver an event to the webhook.
func (k *console) delivery(e site.Event) {
	d := e.Delivery
	if k.cli.json {
		k.event(typedEvent{"delivery", e})
		return
	}
	switch d.Status {
	case site.DeliveryDelivered:
		k.line("webhook %s %s delivered", e.Name, e.ID)
	case site.DeliveryPending:
		k.line("%s %s %s: %s; again in %s", k.cli.paint("33", "webhook"), e.Name, e.ID, printable(d.Error), d.Next.Sub(d.At.Time))
	case site.DeliveryDead:
		k.line("%s %s %s: %s; given up, see pages events replay", k.cli.paint("31", "webhook"), e.Name, e.ID, printable(d.Error))
	}
}

// log prints what the Worker logged, and keeps it.
func (k *console) log(l pagesruntime.Line) {
	line := logLine(l)
	if k.history != nil {
		k.history.AddLine(line)
	}
	if k.cli.json {
		k.event(typedLine{"log", line})
		return
	}
	k.line("%s", devserver.FormatLine(line, k.cli.colored(k.cli.stderr)))
}

// The lines of --json: what happened, by its type.
type readyEvent struct {
	Type string `json:"type"`
	URL  string `json:"url"`
}

type buildEvent struct {
	Type     string              `json:"type"`
	Number   int64               `json:"number"`
	OK       bool                `json:"ok"`
	MS       float64             `json:"ms"`
	Problems []devserver.Problem `json:"problems"`
}

type errorEvent struct {
	Type    string            `json:"type"`
	Problem devserver.Problem `json:"problem"`
}

type typedLine struct {
	Type string `json:"type"`
	site.LogLine
}

type typedRequest struct {
	Type string `json:"type"`
	site.RequestRecord
}

// logLine is a line of a Worker in the terms of the log.
func logLine(l pagesruntime.Line) site.LogLine {
	line := site.LogLine{Time: site.Stamp{Time: l.Time}, Level: l.Level, Text: l.Text, Args: l.Args}
	if l.Request != nil {
		line.Request, line.Route = site.RequestOf(l.Request.Context())
	}
	if len(l.Frames) > 0 {
		at := l.Frames[0]
		line.At = fmt.Sprintf("%s:%d:%d", at.File, at.Line, at.Column)
	}
	if !l.Called {
		for _, f := range l.Frames {
			line.Stack = append(line.Stack, f.String())
		}
	}
	return line
}

// errorPage answers for a Worker that did not, and tells why in the log.
func (k *console) errorPage(w http.ResponseWriter, r *http.Request, err error) {
	p := problemOf(err)
	if k.cli.json {
		k.event(errorEvent{"error", p})
	} else {
		k.line("%s", k.cli.paint("31", strings.TrimSpace(p.Text())))
	}
	devserver.WriteProblemPage(w, r, p)
}

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
	pagesruntime.KindInternal:    "Something went wrong in pages itself",
}

// problemOf is an error of a Worker in the terms of the dev server's pages.
func problemOf(err error) devserver.Problem {
	var f *pagesruntime.Error
	if !errors.As(err, &f) {
		return devserver.Problem{Kind: "internal", Title: titles[pagesruntime.KindInternal], Message: err.Error(), Status: http.StatusInternalServerError}
	}
	p := devserver.Problem{Kind: string(f.Kind), Title: titles[f.Kind], Message: f.Headline(), Fix: f.Fix, Status: f.Status()}
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
