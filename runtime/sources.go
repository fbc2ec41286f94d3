package runtime

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pages-toolchain/pages/manifest/limits"
	"github.com/pages-toolchain/pages/runtime/engine"
	"github.com/pages-toolchain/pages/runtime/expression"
	"github.com/pages-toolchain/pages/runtime/web"
	"github.com/pages-toolchain/pages/runtime/web/console"
)

// Sources are the author's files of one Worker, for mapping failures, stacks and log lines to them, in either engine. Safe for
// concurrent use.
type Sources struct {
	*sources

	o   WorkerOptions
	ctx context.Context //nolint:containedctx // of the Worker: advice asks its databases for names
}

// NewSources takes the source maps of a Worker; one is read when a position is first looked up in it. ctx ends with the Worker.
func NewSources(ctx context.Context, o WorkerOptions) *Sources {
	return &Sources{sources: newSources(o), o: o, ctx: ctx}
}

// Trace reads the stack of an error, from the author's innermost frame on.
func (s *Sources) Trace(stack string) []Frame { return s.trace(stack) }

// Line converts an entry of the console to a line without time and request.
func (s *Sources) Line(e console.Entry) Line {
	l := Line{Level: e.Level, Text: s.text(e.Text), Frames: s.trace(e.Stack)}
	if e.Called {
		l.Called, l.Args = true, json.RawMessage(e.Args)
		if len(l.Frames) > 0 && isAuthored(l.Frames[0]) {
			l.Frames = l.Frames[:1] // that called console
		} else {
			l.Frames = nil
		}
	}
	return l
}

// Rejection is the log line of a rejected promise without a handler, without time and request.
func (s *Sources) Rejection(e *engine.Error) Line {
	lines := []string{"unhandled rejection: " + e.Error()}
	for _, c := range s.causes(e) {
		lines = append(lines, c.String())
	}
	return Line{Level: "error", Text: strings.Join(lines, "\n  "), Frames: s.trace(e.Stack)}
}

// Thrown is the Error of an exception; kind is that of a plain one.
func (s *Sources) Thrown(kind Kind, e *engine.Error) *Error {
	f := &Error{Kind: kind, Name: e.Name, Message: e.Message, Frames: s.trace(e.Stack), err: e}
	if e.OutOfMemory() {
		f.Kind, f.Limit = KindMemory, fmt.Sprintf("memory %d MB", engine.DefaultMemoryLimit>>20)
		f.Message = fmt.Sprintf("the Worker used more than %d MB of memory", engine.DefaultMemoryLimit>>20)
		f.Name = ""
		f.Fix = "keep less at a time: stream bodies, page through results, drop references that are no longer needed"
	}
	if name := web.AbsentIn(e); name != "" {
		f.Fix = "pages does not provide " + name + " yet: do without it, or test this part on the platform"
	}
	if kind == KindResponseSize {
		f.Limit = fmt.Sprintf("response %d MiB", s.o.responseBytes()>>20)
		f.Fix = "send less, or in parts: pages of a list, ranges of a file"
	}
	if f.Name == "" && f.Kind == KindException {
		f.Fix = "throw an Error: only an Error has a stack"
	}
	f.Causes = slices.DeleteFunc(s.causes(e), f.repeats)
	f.show(s.sources)
	if f.Fix == "" {
		f.Fix = s.advice(f)
	}
	return f
}

// Loading marks an Error of the module's evaluation as one of its loading.
func (s *Sources) Loading(f *Error) *Error {
	switch f.Kind { //nolint:exhaustive // others keep their kind
	case KindCPU:
		f.Kind = KindLoad
		f.Message = "the Worker did not finish loading: its top level used more than " + s.o.LoadCPU.String() + " of CPU time"
		f.Fix = "move the work from the top level of the module into the handler"
	case KindMemory:
		f.Message += fmt.Sprintf(" while it was loaded; its code alone is %.1f MiB", float64(len(s.o.Code))/(1<<20))
		if packages := biggestPackages(s.o.Map); packages != "" {
			f.Message += ". The biggest packages in it: " + packages
		}
		f.Fix = "import less, and keep data in a file of the assets, a database or a bucket"
	}
	return f
}

// OverCPU is the Error of a request that was ended because it used up its CPU time.
func (s *Sources) OverCPU(k *engine.KilledError) *Error {
	f := &Error{
		Kind: KindCPU, Limit: fmt.Sprintf("cpuMs %d", s.o.Limits.CPU.Milliseconds()),
		Message: fmt.Sprintf("the Worker used more than %d ms of CPU time (limits.cpuMs)", s.o.Limits.CPU.Milliseconds()),
		Frames:  s.trace(s.inLoop(k.Stack)),
		Fix:     "do less per request, or " + limits.CPUMs.Raise(),
		err:     k,
	}
	if scale := s.o.Limits.scale(); scale != 1 {
		f.Message += fmt.Sprintf("; this machine's --cpu-scale makes that %v", k.Budget.Round(time.Millisecond))
	}
	if k.Watched {
		f.Fix = "the clock stands still while code runs, as in production: a loop that waits for it never ends; " +
			"await scheduler.wait(ms) instead"
	}
	if slices.ContainsFunc(f.Frames, func(at Frame) bool { return hashing().MatchString(at.File) }) {
		f.Fix = "hash passwords with scrypt of node:crypto or PBKDF2 of crypto.subtle, which are native: JavaScript " +
			"is much slower here than in production (--cpu-scale of pages dev allows for it)"
	}
	f.show(s.sources)
	return f
}

// inLoop returns the trace of a killed Worker with the position of the loop in its innermost line: the engine knows no position
// in a loop without calls.
func (s *Sources) inLoop(stack string) string {
	innermost, callers, _ := strings.Cut(stack, "\n")
	m := traceLine().FindStringSubmatchIndex(innermost)
	if m == nil || m[6] < 0 || m[8] < 0 || innermost[m[4]:m[5]] != s.o.Name {
		return stack
	}
	line, _ := strconv.Atoi(innermost[m[6]:m[7]])   // a number that is too large is not a line
	column, _ := strconv.Atoi(innermost[m[8]:m[9]]) // likewise
	line, column, ok := expression.Loop(s.o.Code, line, column)
	if !ok {
		return stack
	}
	return fmt.Sprintf("%s%d:%d%s\n%s", innermost[:m[6]], line, column, innermost[m[9]:], callers)
}

// TooLarge is the Error of a response over the limit.
func (s *Sources) TooLarge() *Error {
	return s.Thrown(KindResponseSize, web.TooLarge(s.o.responseBytes()).Err)
}
