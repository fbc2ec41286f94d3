package devsession

import (
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/pages-toolchain/pages/cmd/internal/terminal"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/devserver"
	"github.com/pages-toolchain/pages/devserver/site"
	pagesruntime "github.com/pages-toolchain/pages/runtime"
)

// console is what `pages dev` says: the ready line and, with --json, every
// event on stdout, one JSON document a line; prose for people on stderr.
type console struct {
	term    *terminal.Terminal
	history *devserver.RequestLog // nil until the state is open
	warned  string                // the warnings told last; of the goroutine that builds
	mu      sync.Mutex            // lines come from many goroutines
	failed  map[string]bool       // failures of requests told since the last build, by their text; of mu
	aside   func(format string, args ...any)
	after   time.Duration // how long a person waits without a word
}

// mostFailed bounds how many failures are kept in mind, and how much is told twice.
const mostFailed = 100

// silence is how long nothing may be said of what is being done.
const silence = 2 * time.Second

func newConsole(t *terminal.Terminal) *console {
	k := &console{term: t, after: silence}
	k.aside = k.line
	return k
}

// wait says what is being done once it has taken a while.
func (k *console) wait(what string) (done func()) {
	timer := time.AfterFunc(k.after, func() { k.aside("%s", what) })
	return func() { timer.Stop() }
}

// NewLogger returns a logger that tells a person on stderr what packages report, as a session does.
func NewLogger(t *terminal.Terminal) *slog.Logger { return newConsole(t).logger() }

func (k *console) logger() *slog.Logger {
	level := slog.LevelWarn
	if k.term.Verbose {
		level = slog.LevelDebug
	}
	return slog.New(notices{console: k, level: level})
}

// event prints one line of JSON.
func (k *console) event(v any) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.term.PrintJSONLine(v)
}

// line prints a line for people.
func (k *console) line(format string, args ...any) {
	if k.term.Quiet {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	fmt.Fprintf(k.term.Stderr, format+"\n", args...)
}

// ready is the first line on stdout: the contract with scripts.
func (k *console) ready(r *session) {
	if k.term.JSON {
		k.event(ReadyEvent{"ready", r.sockets.URL})
		return
	}
	k.mu.Lock()
	fmt.Fprintf(k.term.Stdout, "ready %s\n", r.sockets.URL)
	k.mu.Unlock()
	for _, l := range devserver.Describe(r.manifest).Bindings {
		k.line("  %-12s %s", l.Name, l.Kind)
	}
	taken := ""
	if !r.options.StrictPort && r.options.Port != 0 && r.sockets.Port != r.options.Port {
		taken = fmt.Sprintf("  (port %d was taken)", r.options.Port)
	}
	k.line("  dashboard    %s/__pages/%s", r.sockets.URL, taken)
	k.beyond(r.options.AllowHosts)
}

// build tells of one build.
func (k *console) build(b devserver.Build) {
	if k.term.JSON {
		k.event(BuildEvent{
			"build", b.Number, b.OK, float64(b.Took) / float64(time.Millisecond),
			append([]devserver.Problem{}, b.Problems...),
		})
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
		k.line("%s %s", k.term.Paint("31;1", "error:"), k.text(b.Problems...))
		return
	}
	for _, p := range b.Problems {
		k.line("%s %s: %s", k.term.Paint("33", "warning:"), p.Place(), p.Message)
	}
}

// text is problems as the terminal has room for them.
func (k *console) text(problems ...devserver.Problem) string {
	return strings.TrimSpace(devserver.ProblemsText(devserver.Within(terminal.Columns(k.term.Stderr), problems)))
}

// request tells of one request, and keeps it. The dashboard asks often: what it
// asks for is not worth keeping.
func (k *console) request(rec site.RequestRecord) {
	if k.history != nil && rec.Source != site.FromControl {
		k.history.Add(rec)
	}
	if k.term.JSON {
		k.event(RequestEvent{"request", rec})
		return
	}
	if rec.Source == site.FromControl && !k.term.Verbose {
		return
	}
	k.line("%s", devserver.FormatRequest(rec, k.term.Colored(k.term.Stderr)))
}

// delivery tells of one attempt to deliver an event to the webhook.
func (k *console) delivery(e site.Event) {
	d := e.Delivery
	if k.term.JSON {
		k.event(SiteEvent{"delivery", e})
		return
	}
	switch d.Status {
	case site.DeliveryDelivered:
		k.line("webhook %s %s delivered", e.Name, e.ID)
	case site.DeliveryPending:
		k.line("%s %s %s: %s; again in %s", k.term.Paint("33", "webhook"), e.Name, e.ID, wording.Printable(d.Error), d.Next.Sub(d.At.Time))
	case site.DeliveryDead:
		k.line("%s %s %s: %s; given up, see pages events replay", k.term.Paint("31", "webhook"), e.Name, e.ID, wording.Printable(d.Error))
	}
}

// log prints what the Worker logged, and keeps it.
func (k *console) log(l pagesruntime.Line) {
	line := logLine(l)
	if k.history != nil {
		k.history.AddLine(line)
	}
	if k.term.JSON {
		k.event(LogEvent{"log", line})
		return
	}
	k.line("%s", devserver.FormatLine(line, k.term.Colored(k.term.Stderr)))
}

// errorPage answers for a Worker that did not, and tells why in the log.
func (k *console) errorPage(w http.ResponseWriter, r *http.Request, err error) {
	p := problemOf(err)
	if k.term.JSON {
		k.event(ErrorEvent{"error", p})
	} else if text := k.text(p); k.isNew(text) {
		k.line("%s", k.term.Paint("31", text))
	}
	devserver.WriteProblemPage(w, r, p)
}

// forget has failures told anew. It is called when a build has ended and is not served yet: the
// first requests may fail before the build is told of.
func (k *console) forget() {
	k.mu.Lock()
	k.failed = nil
	k.mu.Unlock()
}

// isNew reports whether a failure was not told since the last build: the line of each request
// says in short what it failed of.
func (k *console) isNew(text string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.failed[text] {
		return false
	}
	if k.failed == nil || len(k.failed) >= mostFailed {
		k.failed = map[string]bool{}
	}
	k.failed[text] = true
	return true
}
