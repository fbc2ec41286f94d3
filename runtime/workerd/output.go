package workerd

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	pagesruntime "github.com/pages-toolchain/pages/runtime"
	"github.com/pages-toolchain/pages/runtime/engine"
	"github.com/pages-toolchain/pages/runtime/web/console"
)

// This file reads the output of a process: events of our script after the token, the Worker's own output, and workerd's messages.

const (
	// maxLine is the limit of one line, in bytes.
	maxLine = 1 << 20
	// maxTail is the limit of the end of workerd's own output, in bytes.
	maxTail = 8 << 10
)

// lines is an io.Writer that passes whole lines to a function, without their line ends. It cuts lines that are too long.
type lines struct {
	line func([]byte)
	rest []byte
}

// Write implements io.Writer.
func (l *lines) Write(b []byte) (int, error) {
	n := len(b)
	for {
		line, rest, ended := bytes.Cut(b, []byte("\n"))
		if room := maxLine - len(l.rest); len(line) > room {
			line = line[:max(room, 0)]
		}
		if !ended {
			l.rest = append(l.rest, line...)
			return n, nil
		}
		if len(l.rest) > 0 {
			line = append(l.rest, line...)
		}
		l.line(line)
		l.rest = l.rest[:0]
		b = rest
	}
}

// exception is workerd's report of an exception that reached it.
type exception struct {
	name, message string
	at            time.Time
}

func (e exception) hung() bool { return strings.Contains(e.message, "your Worker's code had hung") }

// output collects the output of a process.
type output struct {
	p *process

	mu     sync.Mutex
	last   []byte        // of standard error
	full   bool          // the heap
	thrown *engine.Error // why the module could not be evaluated, from our script
	read   *engine.Error // the same from workerd
	// said are exceptions that are not yet matched to a request.
	said []exception
	more chan struct{} // closed and replaced for each new one
}

// event is a line of our script.
type event struct {
	ID    string  `json:"id"`
	Kind  string  `json:"kind"`
	Level string  `json:"level"`
	Text  string  `json:"text"`
	Args  *string `json:"args"`
	thrownError
}

// thrownError is an error in the form of our script.
type thrownError struct {
	Name    string   `json:"name"`
	Message string   `json:"message"`
	Stack   string   `json:"stack"`
	Causes  []string `json:"causes"`
}

// stdout handles a line of standard output.
func (o *output) stdout(line []byte) {
	o.p.meter.alive()
	w := o.p.w
	text, ours := bytes.CutPrefix(line, []byte(w.token))
	if !ours {
		w.o.Logger.Debug("workerd says", "line", string(line))
		return
	}
	var e event
	if err := json.Unmarshal(text, &e); err != nil {
		w.o.Logger.Debug("a line of workerd's that cannot be read", "error", err)
		return
	}
	o.take(&e)
}

// levels are the levels of a line.
var levels = []string{"debug", "log", "info", "trace", "warn", "error"}

// take handles an event. An author who finds the token could send events, too: they have no more effect than console.
func (o *output) take(e *event) {
	w := o.p.w
	x := w.requests.of(e.ID)
	switch e.Kind {
	case "line":
		if !slices.Contains(levels, e.Level) {
			e.Level = "log"
		}
		entry := console.Entry{Level: e.Level, Text: o.p.frames(console.Truncate(e.Text)), Stack: o.p.frames(console.Truncate(e.Stack))}
		if e.Args != nil {
			entry.Called = true
			if json.Valid([]byte(*e.Args)) {
				entry.Args = *e.Args
			}
		}
		w.console(x, w.sources.Line(entry))
	case "rejection":
		w.console(x, w.sources.Rejection(o.p.thrown(e.thrownError)))
	case "load":
		o.mu.Lock()
		o.thrown = o.p.thrown(e.thrownError)
		o.mu.Unlock()
	case "pong":
		o.p.mu.Lock()
		pong := o.p.pongs[e.ID]
		delete(o.p.pongs, e.ID)
		o.p.mu.Unlock()
		if pong != nil {
			pong()
		}
	case "waits", "settled", "done":
		if x == nil {
			return
		}
		x.mu.Lock()
		defer x.mu.Unlock()
		if x.closed && !x.waits && e.Kind == "waits" {
			x.again = make(chan struct{})
			w.work.Go(x.waitsLate)
		}
		x.waits, x.settled = true, e.Kind == "settled"
		if e.Kind == "done" || x.settled && x.gone {
			x.isDoneLocked()
		}
	}
}

// Lines of workerd's own.
var (
	// uncaught begins the reason why a module could not be evaluated.
	uncaught = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^service main(?:-\w+)?: Uncaught (?:([\w$.]*(?:Error|Exception)): )?(.*)$`)
	})
	// place is a frame after it.
	place = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\s+at (\S+:\d+:\d+)(?: in (.*))?$`) })
	// reached is an exception that a handler did not catch.
	reached = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`error: Uncaught exception: .*?remote\.(?:jsg|dom)\.(?:DOMException\()?([\w$]+)\)?: (.*)$`)
	})
)

// stderr handles a line of standard error.
func (o *output) stderr(line []byte) {
	w := o.p.w
	text := string(line)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.last = append(append(o.last, line...), '\n')
	if len(o.last) > maxTail {
		o.last = append(o.last[:0], o.last[len(o.last)-maxTail/2:]...)
	}
	if strings.Contains(text, "JavaScript heap out of memory") {
		o.full = true
	}
	if m := reached().FindStringSubmatch(text); m != nil {
		o.say(exception{m[1], m[2], time.Now()}) //nolint:forbidigo // a duration is made of it
		return
	}
	if m := uncaught().FindStringSubmatch(text); m != nil {
		o.read = &engine.Error{Name: m[1], Message: m[2]}
		return
	}
	if m := place().FindStringSubmatch(text); m != nil && o.read != nil {
		o.read.Stack += o.p.frames(placeOf(o.read, m)) + "\n"
		return
	}
	if !strings.HasPrefix(text, "stack: ") {
		w.o.Logger.Debug("workerd says", "line", text)
	}
}

// maxSaid is the limit of exceptions that wait for their requests.
const maxSaid = 100

// say keeps an exception. The caller holds o.mu.
func (o *output) say(e exception) {
	if len(o.said) == maxSaid {
		o.said = o.said[1:]
	}
	o.said = append(o.said, e)
	if o.more != nil {
		close(o.more)
		o.more = nil
	}
}

// saidWait is the time in which workerd's reason for a refusal must arrive. workerd writes it before the refusal.
const saidWait = 200 * time.Millisecond

// awaitException returns the oldest exception that is not matched to a request; an empty one without any.
func (o *output) awaitException() exception {
	timer := time.NewTimer(saidWait)
	defer timer.Stop()
	for {
		o.mu.Lock()
		for len(o.said) > 0 {
			e := o.said[0]
			o.said = o.said[1:]
			if time.Since(e.at) < 2*saidWait {
				o.mu.Unlock()
				return e
			}
		}
		if o.more == nil {
			o.more = make(chan struct{})
		}
		more := o.more
		o.mu.Unlock()
		select {
		case <-more:
		case <-timer.C:
			return exception{}
		case <-o.p.done:
			return exception{}
		}
	}
}

func (o *output) heapFull() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.full
}

// loadFailure is the exception of a module that could not be evaluated; nil without a report.
func (o *output) loadFailure() *engine.Error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.thrown == nil {
		return o.read
	}
	return o.thrown
}

// placeOf makes a frame from a place in workerd's form. In a module that cannot be parsed, workerd counts columns from 0.
func placeOf(e *engine.Error, m []string) string {
	at := m[1]
	if i := strings.LastIndexByte(at, ':'); e.Name == "SyntaxError" {
		column, _ := strconv.Atoi(at[i+1:]) // digits
		at = at[:i+1] + strconv.Itoa(column+1)
	}
	if m[2] != "" {
		return fmt.Sprintf("    at %s (%s)", m[2], at)
	}
	return "    at " + at
}

// tail is the end of workerd's standard error, on lines of their own.
func (o *output) tail() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	if text := strings.TrimSpace(string(o.last)); text != "" {
		return "\n" + text
	}
	return ""
}

// console logs a line of a request; nil for none.
func (w *Worker) console(x *exchange, l pagesruntime.Line) {
	if w.o.Console == nil {
		return
	}
	l.Time = w.now()
	quota := &w.unclaimed
	if x != nil {
		l.Request = x.r
		quota = &x.logs
	}
	switch ok, last := quota.admit(len(l.Text)); {
	case last:
		w.o.Console(pagesruntime.Line{Time: l.Time, Level: "warn", Text: pagesruntime.OverLogs, Request: l.Request})
	case ok:
		w.o.Console(l)
	}
}

// quota is a LogQuota that several goroutines use.
type quota struct {
	mu   sync.Mutex
	used pagesruntime.LogQuota
}

func (q *quota) admit(size int) (ok, last bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.used.Admit(size)
}

// warn logs a line of the runtime for a request.
func (x *exchange) warn(text string) { x.w.console(x, pagesruntime.Line{Level: "warn", Text: text}) }

// logError logs an Error that no response can show.
func (x *exchange) logError(what string, f *pagesruntime.Error) {
	x.w.console(x, pagesruntime.Line{Level: "error", Text: what + f.Headline(), Frames: f.Frames})
}

// ownPlace matches a place in one of our modules, to the end of its frame.
var ownPlace = regexp.MustCompile(`^[^\s:]*:\d+:\d+\)?`)

// frames rewrites the traces in a text as the built-in engine writes them.
func (p *process) frames(text string) string {
	if !strings.Contains(text, "at ") {
		return text
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		from := strings.TrimLeft(line, " \t")
		if frame, ok := strings.CutPrefix(from, "at "); ok && len(from) < len(line) {
			line = line[:len(line)-len(from)] + "at " + p.frame(strings.TrimSuffix(frame, "\n"), &ok)
			if !ok {
				continue
			}
			if strings.HasSuffix(frame, "\n") {
				line += "\n"
			}
		}
		b.WriteString(line)
	}
	return b.String()
}

// frame rewrites one frame of V8; ok is false for a frame outside of any code.
func (p *process) frame(frame string, ok *bool) string {
	if i := strings.Index(frame, p.w.folder+"/"); i >= 0 {
		return "native" + frame[i+len(ownPlace.FindString(frame[i:])):] // a console may print more after a trace
	}
	frame = strings.TrimPrefix(frame, "async ")
	if strings.HasPrefix(frame, "Promise.") && strings.Contains(frame, "(index ") {
		*ok = false
		return ""
	}
	frame = strings.Replace(strings.TrimPrefix(frame, "new "), "(<anonymous>)", "(native)", 1) // such as of String
	for _, prefix := range []string{"Object.", "Module.", "Function."} {
		frame = strings.TrimPrefix(frame, prefix)
	}
	if before, after, found := strings.Cut(frame, " [as "); found {
		if _, place, closed := strings.Cut(after, "]"); closed {
			frame = before + place
		}
	}
	// Modules of workerd's own.
	frame = strings.Replace(frame, "cloudflare-internal:", "cloudflare:internal/", 1)
	return strings.Replace(frame, "node-internal:", "node:internal/", 1)
}
